"""Acts for a person by a library as it comes: authlib or httpx-oauth.

It takes its steps from stdin, one a line, and says on stdout what came of them.
"""

import asyncio
import json
import os
import sys
import time
from urllib.parse import parse_qs, urlsplit

import requests

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
from authlib.integrations.requests_client import OAuth2Session  # noqa: E402
from httpx_oauth.oauth2 import OAuth2  # noqa: E402

BASE = os.environ["BASE"]
AUTHORIZE = os.environ["AUTHORIZE"]
CLIENT = os.environ["CLIENT"], os.environ["CLIENT_SECRET"]
REDIRECT_URI = os.environ["REDIRECT_URI"]
TOKEN_URL = f"{BASE}/oauth/token"


class Authlib:
    def __init__(self):
        self.session = OAuth2Session(
            *CLIENT,
            scope="review vote",
            redirect_uri=REDIRECT_URI,
            token_endpoint=TOKEN_URL,
            code_challenge_method="S256",
        )
        self.verifier = "v" * 43

    def authorize(self):
        return self.session.create_authorization_url(AUTHORIZE, code_verifier=self.verifier)[0]

    def redeem(self, callback):
        return self.session.fetch_token(
            authorization_response=callback, code_verifier=self.verifier
        )

    def refresh(self, token):
        # The library sees that the token has expired, and refreshes it before the request.
        self.session.token = {**token, "expires_at": int(time.time()) - 1}
        self.session.get(f"{BASE}/user/me")
        return self.session.token


class HttpxOauth:
    """The default of refresh_token_authentication_method is the one named here."""

    def __init__(self):
        self.client = OAuth2(
            *CLIENT,
            AUTHORIZE,
            TOKEN_URL,
            refresh_token_endpoint=TOKEN_URL,
            token_endpoint_auth_method="client_secret_basic",
        )

    def authorize(self):
        return asyncio.run(
            self.client.get_authorization_url(REDIRECT_URI, "state", ["review", "vote"])
        )

    def redeem(self, callback):
        [code] = parse_qs(urlsplit(callback).query)["code"]
        return asyncio.run(self.client.get_access_token(code, REDIRECT_URI))

    def refresh(self, token):
        return asyncio.run(self.client.refresh_token(token["refresh_token"]))


def answer(response):
    response.raise_for_status()
    return response.json()


def say(*words):
    print(*words, flush=True)


library = {"authlib": Authlib, "httpx-oauth": HttpxOauth}[sys.argv[1]]()
say("authorize", library.authorize())
token = library.redeem(input())
say("scope", token["scope"])

input()  # An hour later.
former = token["access_token"]
token = library.refresh(token)
assert token["access_token"] != former
api = requests.Session()
api.headers["Authorization"] = f"Bearer {token['access_token']}"
say("refreshed", answer(api.get(f"{BASE}/user/me"))["user"]["display_name"])

input()
since = answer(api.get(f"{BASE}/changes"))["next"]
review = answer(api.post(f"{BASE}/review/", json=json.loads(os.environ["REVIEW"])))["id"]
say("published", review)
for _ in range(100):
    page = answer(api.get(f"{BASE}/changes", params={"since": since}))
    if any(change["id"] == review for change in page["changes"]):
        say("followed", review)
        break
    since = page["next"]
    time.sleep(0.1)
