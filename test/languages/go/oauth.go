// A program that acts for a person by golang.org/x/oauth2, as the package comes. It takes its steps
// from stdin, one a line, and says on stdout what came of them.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

var lines = bufio.NewScanner(os.Stdin)

func next() string {
	lines.Scan()
	return lines.Text()
}

// ask reads the JSON of an answer, and ends the program on any error.
func ask(response *http.Response, err error) map[string]any {
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	if response.StatusCode != 200 {
		log.Fatal(response.Status, string(body))
	}
	answer := map[string]any{}
	if err := json.Unmarshal(body, &answer); err != nil {
		log.Fatal(err)
	}
	return answer
}

func main() {
	ctx := context.Background()
	base := os.Getenv("BASE")
	config := oauth2.Config{
		ClientID:     os.Getenv("CLIENT"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		RedirectURL:  os.Getenv("REDIRECT_URI"),
		Scopes:       []string{"review", "vote"},
		Endpoint:     oauth2.Endpoint{AuthURL: os.Getenv("AUTHORIZE"), TokenURL: base + "/oauth/token"},
	}
	verifier := oauth2.GenerateVerifier()
	fmt.Println("authorize", config.AuthCodeURL("state", oauth2.S256ChallengeOption(verifier)))

	callback, _ := url.Parse(next())
	token, err := config.Exchange(ctx, callback.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("scope", token.Extra("scope"))

	next() // An hour later.
	late := *token
	late.Expiry = time.Now().Add(-time.Second)
	api := config.Client(ctx, &late)
	user := ask(api.Get(base + "/user/me"))["user"].(map[string]any)
	fmt.Println("refreshed", user["display_name"])

	next()
	since := ask(api.Get(base + "/changes"))["next"].(string)
	review := ask(api.Post(base+"/review/", "application/json", strings.NewReader(os.Getenv("REVIEW"))))
	fmt.Println("published", review["id"])
	for range 100 {
		page := ask(api.Get(base + "/changes?since=" + url.QueryEscape(since)))
		for _, change := range page["changes"].([]any) {
			if change.(map[string]any)["id"] == review["id"] {
				fmt.Println("followed", review["id"])
				return
			}
		}
		since = page["next"].(string)
		time.Sleep(100 * time.Millisecond)
	}
}
