"""Puts this folder on the path: mujoco_pair.py is used by several folders of tests."""
