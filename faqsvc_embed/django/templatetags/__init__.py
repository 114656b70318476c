"""The template tags of the application."""
