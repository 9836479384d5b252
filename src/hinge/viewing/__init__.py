"""Looking at robots and trajectories in a browser.

Read shapes (what is drawn), then figure (a robot in a scene), page (what the browser shows).
"""

from hinge.viewing.page import Page, view

__all__ = ["Page", "view"]
