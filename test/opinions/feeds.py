"""Prints what the Universal Feed Parser reads in a feed, as JSON."""

import json
import sys

import feedparser

feed = feedparser.parse(sys.stdin.buffer.read())
print(
    json.dumps(
        {
            "faults": [str(feed.bozo_exception)] if feed.bozo else [],
            "version": feed.version,
            "title": feed.feed.title,
            "entries": [
                {
                    "id": entry.id,
                    "link": entry.link,
                    "alternates": [
                        link.href for link in entry.links if link.rel == "alternate"
                    ],
                    "author": entry.author,
                    "published": entry.published,
                    "content": entry.content[0].value,
                }
                for entry in feed.entries
            ],
        }
    )
)
