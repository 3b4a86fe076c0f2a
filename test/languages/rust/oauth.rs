//! Acts for a person by the crate oauth2, as it comes. It takes its steps from stdin, one a line,
//! and says on stdout what came of them.

use oauth2::basic::BasicClient;
use oauth2::reqwest::{blocking::Client, redirect::Policy, Url};
use oauth2::{
    AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, PkceCodeChallenge, RedirectUrl,
    Scope, TokenResponse, TokenUrl,
};
use serde_json::Value;
use std::{env::var, error::Error, io::stdin, thread::sleep, time::Duration};

fn next() -> String {
    let mut line = String::new();
    stdin().read_line(&mut line).unwrap();
    line.trim().to_string()
}

fn main() -> Result<(), Box<dyn Error>> {
    let base = var("BASE")?;
    let http = Client::builder().redirect(Policy::none()).build()?;
    let client = BasicClient::new(ClientId::new(var("CLIENT")?))
        .set_client_secret(ClientSecret::new(var("CLIENT_SECRET")?))
        .set_auth_uri(AuthUrl::new(var("AUTHORIZE")?)?)
        .set_token_uri(TokenUrl::new(format!("{base}/oauth/token"))?)
        .set_redirect_uri(RedirectUrl::new(var("REDIRECT_URI")?)?);
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (url, _) = client
        .authorize_url(CsrfToken::new_random)
        .add_scope(Scope::new("review".into()))
        .add_scope(Scope::new("vote".into()))
        .set_pkce_challenge(challenge)
        .url();
    println!("authorize {url}");

    let callback = Url::parse(&next())?;
    let (_, code) = callback.query_pairs().find(|(name, _)| name == "code").ok_or("no code")?;
    let tokens = client
        .exchange_code(AuthorizationCode::new(code.into_owned()))
        .set_pkce_verifier(verifier)
        .request(&http)?;
    let scopes: Vec<&str> = tokens.scopes().ok_or("no scope")?.iter().map(|it| it.as_str()).collect();
    println!("scope {}", scopes.join(" "));

    next(); // An hour later.
    let refresh_token = tokens.refresh_token().ok_or("no refresh token")?;
    let tokens = client.exchange_refresh_token(refresh_token).request(&http)?;
    let token = tokens.access_token().secret();
    let ask = |path: &str, body: Option<String>| -> Result<Value, Box<dyn Error>> {
        let url = format!("{base}{path}");
        let request = match body {
            Some(body) => http.post(url).header("Content-Type", "application/json").body(body),
            None => http.get(url),
        };
        let answer = request.bearer_auth(token).send()?.error_for_status()?;
        Ok(serde_json::from_str(&answer.text()?)?)
    };
    println!("refreshed {}", ask("/user/me", None)?["user"]["display_name"].as_str().unwrap());

    next();
    let mut page = ask("/changes", None)?;
    let review = ask("/review/", Some(var("REVIEW")?))?;
    let id = review["id"].as_str().ok_or("no id")?;
    println!("published {id}");
    for _ in 0..100 {
        let since = page["next"].as_str().ok_or("no cursor")?;
        page = ask(&format!("/changes?since={since}"), None)?;
        if page["changes"].as_array().unwrap().iter().any(|change| change["id"] == id) {
            println!("followed {id}");
            return Ok(());
        }
        sleep(Duration::from_millis(100));
    }
    Err("The review is not among the changes".into())
}
