import com.github.scribejava.core.builder.ServiceBuilder;
import com.github.scribejava.core.builder.api.DefaultApi20;
import com.github.scribejava.core.oauth.OAuth20Service;
import com.google.api.client.auth.oauth2.AuthorizationCodeFlow;
import com.google.api.client.auth.oauth2.BearerToken;
import com.google.api.client.auth.oauth2.Credential;
import com.google.api.client.http.BasicAuthentication;
import com.google.api.client.http.GenericUrl;
import com.google.api.client.http.javanet.NetHttpTransport;
import com.google.api.client.json.gson.GsonFactory;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.nimbusds.oauth2.sdk.*;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.token.Tokens;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.oauth2.client.*;
import org.springframework.security.oauth2.client.endpoint.*;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.endpoint.*;

/**
 * Acts for a person by a library as it comes: nimbus, scribejava, google or spring. It takes its
 * steps from stdin, one a line, and says on stdout what came of them.
 */
public class OAuth {
  static final String BASE = System.getenv("BASE");
  static final String AUTHORIZE = System.getenv("AUTHORIZE");
  static final String TOKEN_URL = BASE + "/oauth/token";
  static final String CLIENT = System.getenv("CLIENT");
  static final String CLIENT_SECRET = System.getenv("CLIENT_SECRET");
  static final String REDIRECT_URI = System.getenv("REDIRECT_URI");

  interface Library {
    String authorize() throws Exception;

    /** Returns the scope that the answer names. */
    String redeem(String code) throws Exception;

    /** Returns the next access token, as after an hour. */
    String refresh() throws Exception;
  }

  static class Nimbus implements Library {
    final ClientID client = new ClientID(CLIENT);
    final ClientSecretBasic secret = new ClientSecretBasic(client, new Secret(CLIENT_SECRET));
    Tokens tokens;

    public String authorize() {
      return new AuthorizationRequest.Builder(ResponseType.CODE, client)
          .endpointURI(URI.create(AUTHORIZE))
          .redirectionURI(URI.create(REDIRECT_URI))
          .scope(new Scope("review", "vote"))
          .build()
          .toURI()
          .toString();
    }

    public String redeem(String code) throws Exception {
      var uri = URI.create(REDIRECT_URI);
      ask(new AuthorizationCodeGrant(new AuthorizationCode(code), uri));
      return tokens.getAccessToken().getScope().toString();
    }

    public String refresh() throws Exception {
      ask(new RefreshTokenGrant(tokens.getRefreshToken()));
      return tokens.getAccessToken().getValue();
    }

    void ask(AuthorizationGrant grant) throws Exception {
      var request = new TokenRequest.Builder(URI.create(TOKEN_URL), secret, grant).build();
      var response = TokenResponse.parse(request.toHTTPRequest().send());
      if (!response.indicatesSuccess()) {
        throw new Exception(response.toErrorResponse().getErrorObject().toString());
      }
      tokens = response.toSuccessResponse().getTokens();
    }
  }

  static class Scribe implements Library {
    final OAuth20Service service =
        new ServiceBuilder(CLIENT)
            .apiSecret(CLIENT_SECRET)
            .callback(REDIRECT_URI)
            .defaultScope("review vote")
            .build(
                new DefaultApi20() {
                  @Override
                  public String getAccessTokenEndpoint() {
                    return TOKEN_URL;
                  }

                  @Override
                  protected String getAuthorizationBaseUrl() {
                    return AUTHORIZE;
                  }
                });
    String refreshToken;

    public String authorize() {
      return service.getAuthorizationUrl();
    }

    public String redeem(String code) throws Exception {
      var token = service.getAccessToken(code);
      refreshToken = token.getRefreshToken();
      return token.getScope();
    }

    public String refresh() throws Exception {
      return service.refreshAccessToken(refreshToken).getAccessToken();
    }
  }

  static class Google implements Library {
    final AuthorizationCodeFlow flow =
        new AuthorizationCodeFlow.Builder(
                BearerToken.authorizationHeaderAccessMethod(),
                new NetHttpTransport(),
                GsonFactory.getDefaultInstance(),
                new GenericUrl(TOKEN_URL),
                // The option for HTTP Basic.
                new BasicAuthentication(CLIENT, CLIENT_SECRET),
                CLIENT,
                AUTHORIZE)
            .setScopes(List.of("review", "vote"))
            .build();
    Credential credential;

    public String authorize() {
      return flow.newAuthorizationUrl().setRedirectUri(REDIRECT_URI).build();
    }

    public String redeem(String code) throws Exception {
      var answer = flow.newTokenRequest(code).setRedirectUri(REDIRECT_URI).execute();
      credential = flow.createAndStoreCredential(answer, "ann");
      return answer.getScope();
    }

    public String refresh() throws Exception {
      credential.setExpiresInSeconds(0L);
      credential.refreshToken();
      return credential.getAccessToken();
    }
  }

  static class Spring implements Library {
    final ClientRegistration registration =
        ClientRegistration.withRegistrationId("reviews")
            .clientId(CLIENT)
            .clientSecret(CLIENT_SECRET)
            .authorizationGrantType(AuthorizationGrantType.AUTHORIZATION_CODE)
            .redirectUri(REDIRECT_URI)
            .authorizationUri(AUTHORIZE)
            .tokenUri(TOKEN_URL)
            .scope("review", "vote")
            .build();
    final OAuth2AuthorizationRequest request =
        OAuth2AuthorizationRequest.authorizationCode()
            .authorizationUri(AUTHORIZE)
            .clientId(CLIENT)
            .redirectUri(REDIRECT_URI)
            .scopes(registration.getScopes())
            .state("state")
            .build();
    OAuth2AuthorizedClient authorized;

    public String authorize() {
      return request.getAuthorizationRequestUri();
    }

    public String redeem(String code) {
      var answer =
          OAuth2AuthorizationResponse.success(code).redirectUri(REDIRECT_URI).state("state").build();
      var exchange = new OAuth2AuthorizationExchange(request, answer);
      var tokens =
          new RestClientAuthorizationCodeTokenResponseClient()
              .getTokenResponse(
                  new OAuth2AuthorizationCodeGrantRequest(registration, exchange));
      authorized =
          new OAuth2AuthorizedClient(
              registration, "ann", tokens.getAccessToken(), tokens.getRefreshToken());
      return String.join(" ", tokens.getAccessToken().getScopes().stream().sorted().toList());
    }

    public String refresh() {
      var provider = new RefreshTokenOAuth2AuthorizedClientProvider();
      provider.setAccessTokenResponseClient(new RestClientRefreshTokenTokenResponseClient());
      provider.setClock(Clock.offset(Clock.systemUTC(), Duration.ofHours(1)));
      var context =
          OAuth2AuthorizationContext.withAuthorizedClient(authorized)
              .principal(new TestingAuthenticationToken("ann", null))
              .build();
      return provider.authorize(context).getAccessToken().getTokenValue();
    }
  }

  static final HttpClient http = HttpClient.newHttpClient();
  static String token;

  static JsonObject ask(String path, String body) throws Exception {
    var request =
        HttpRequest.newBuilder(URI.create(BASE + path)).header("Authorization", "Bearer " + token);
    if (body != null) {
      request.header("Content-Type", "application/json");
      request.POST(HttpRequest.BodyPublishers.ofString(body));
    }
    var response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) throw new Exception(response.body());
    return JsonParser.parseString(response.body()).getAsJsonObject();
  }

  static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  public static void main(String[] args) throws Exception {
    var lines = new BufferedReader(new InputStreamReader(System.in));
    var library =
        Map.of("nimbus", new Nimbus(), "scribejava", new Scribe(), "google", new Google(), "spring", new Spring())
            .get(args[0]);
    System.out.println("authorize " + library.authorize());
    var code = lines.readLine().replaceFirst(".*[?&]code=([^&]*).*", "$1");
    System.out.println("scope " + library.redeem(URLDecoder.decode(code, StandardCharsets.UTF_8)));

    lines.readLine(); // An hour later.
    token = library.refresh();
    var user = ask("/user/me", null).getAsJsonObject("user");
    System.out.println("refreshed " + user.get("display_name").getAsString());

    lines.readLine();
    var since = ask("/changes", null).get("next").getAsString();
    var id = ask("/review/", System.getenv("REVIEW")).get("id");
    System.out.println("published " + id.getAsString());
    for (int i = 0; i < 100; i++) {
      var page = ask("/changes?since=" + encoded(since), null);
      for (var change : page.getAsJsonArray("changes")) {
        if (!change.getAsJsonObject().get("id").equals(id)) continue;
        System.out.println("followed " + id.getAsString());
        return;
      }
      since = page.get("next").getAsString();
      Thread.sleep(100);
    }
  }
}
