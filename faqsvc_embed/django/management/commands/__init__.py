"""`manage.py faq`."""
