"""The management commands of the application."""
