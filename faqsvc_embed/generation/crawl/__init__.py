"""Crawling: the pages of a website that probably have questions and answers.

Start with `crawler`. `fetcher` makes every request, through the SSRF guard of `ssrf`, and `page` turns a
response into a page.
"""
