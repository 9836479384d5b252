"""Looking at robots and trajectories: in a browser, and in films.

Read shapes (what is drawn), then figure (a robot in a scene) and page (what the browser shows); reel (what a film
shows), then film_page and render, which draw it, and film.
"""

from hinge.viewing.film import film, picture
from hinge.viewing.page import Page, view

__all__ = ["Page", "film", "picture", "view"]
