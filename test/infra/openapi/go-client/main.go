// Program makes typical calls with the client that oapi-codegen generates, and prints what it read
// by its types.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"example.org/program/reviews"
	"github.com/google/uuid"
)

// check ends the program if a call failed, or if its answer is not of the expected type.
func check[T any](call string, answer *T, err error) *T {
	if err == nil && answer != nil {
		return answer
	}
	fmt.Println(call, "failed:", err)
	os.Exit(1)
	return nil
}

func main() {
	base, token := os.Args[1], os.Args[2]
	ctx := context.Background()
	bearer := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
	client, err := reviews.NewClientWithResponses(base, reviews.WithRequestEditorFn(bearer))
	api := check("client", client, err)

	start, err := api.ListChangesWithResponse(ctx, nil)
	since := check("changes", check("changes", start, err).JSON200, nil).Next

	limit, withText := 1, reviews.ListReviewsParamsReviewTypeReview
	listed, err := api.ListReviewsWithResponse(ctx, &reviews.ListReviewsParams{
		Limit:      &limit,
		ReviewType: &withText,
	})
	list := check("list", check("list", listed, err).JSON200, nil)
	first := list.Reviews[0]
	fmt.Println("list:", len(list.Reviews), list.Count > 1, *first.Text != "")

	got, err := api.GetReviewWithResponse(ctx, first.Id, nil)
	review := check("get", check("get", got, err).JSON200, nil).Review
	fmt.Println("get:", review.Id == first.Id, review.User.Id == first.User.Id)

	rating := 5
	created, err := api.CreateReviewWithResponse(ctx, nil, reviews.CreateReviewJSONRequestBody{
		EntityId:      uuid.New(),
		EntityType:    reviews.EntityTypeReleaseGroup,
		LicenseChoice: reviews.CreateReviewJSONBodyLicenseChoiceCCBYSA40,
		Rating:        &rating,
	})
	id := check("publish", check("publish", created, err).JSON200, nil).Id

	own, err := api.ListMyReviewsWithResponse(ctx, nil)
	mine := check("own reviews", check("own reviews", own, err).JSON200, nil).Reviews[0]
	fmt.Println("own reviews:", mine.Id == id, *mine.Rating, mine.Text == nil, mine.IsDraft)

	cast, err := api.PutVoteWithResponse(ctx, first.Id, reviews.PutVoteJSONRequestBody{Vote: true})
	check("vote", check("vote", cast, err).JSON200, nil)
	vote, err := api.GetVoteWithResponse(ctx, first.Id)
	fmt.Println("vote:", check("own vote", check("own vote", vote, err).JSON200, nil).Vote.Vote)

	missing, err := api.GetReviewWithResponse(ctx, uuid.New(), nil)
	problem := check("missing review", check("missing review", missing, err).JSON404, nil)
	fmt.Println("missing review:", problem.Error)

	me, err := api.GetMeWithResponse(ctx, nil)
	profile := check("profile", check("profile", me, err).JSON200, nil).User
	label, err := profile.UserType.AsOwnProfileIncludingUserType0()
	fmt.Println("profile:", label, err)
	inc := "user_type"
	me, err = api.GetMeWithResponse(ctx, &reviews.GetMeParams{Inc: &inc})
	profile = check("profile", check("profile", me, err).JSON200, nil).User
	limited, err := profile.UserType.AsUserTypeWithLimit()
	fmt.Println("profile with its limit:", limited.Label, limited.VotesPerDay, err)

	// The log follows within a second.
	for range 100 {
		page, err := api.ListChangesWithResponse(ctx, &reviews.ListChangesParams{Since: &since})
		answer := check("changes", check("changes", page, err).JSON200, nil)
		for _, change := range answer.Changes {
			if change.Id == id {
				isLong := change.Version > 1<<32
				fmt.Println("change:", change.Subject.Type, isLong, *change.Review.Revisions[0].Rating)
				return
			}
		}
		since = answer.Next
		time.Sleep(200 * time.Millisecond)
	}
	fmt.Println("change: none came")
}
