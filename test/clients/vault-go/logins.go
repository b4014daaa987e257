package main

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"log"
	"strings"
	"time"
)

// A pod logs in with the token of its service account, and a job with that of its pipeline.
func signedTokens(s server) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	must(err)
	keys := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	for _, method := range []string{"kubernetes", "jwt"} {
		path := "go-" + method
		s.write("sys/auth/"+path, object{"type": method})
		s.write("auth/"+path+"/config", object{"jwt_validation_pubkeys": []string{keys}})
		s.write("auth/"+path+"/role/app", object{
			"role_type": "jwt", "user_claim": "sub", "bound_subject": "system:serviceaccount:ns:sa", "token_policies": "app",
			"bound_audiences": []string{"https://coffer.example"},
		})
		stranger := s.as("")
		token := signed(key, "system:serviceaccount:ns:sa")
		secret, err := stranger.Auth().Login(context.Background(), loginBy(method, path, token))
		must(err)
		expect("policies", secret.Auth.Policies, []string{"app", "default"})
		expect("role", secret.Auth.Metadata["role"], "app")
		self, err := stranger.Auth().Token().LookupSelf()
		must(err)
		expect("display_name", self.Data["display_name"], path+"-system:serviceaccount:ns:sa")
		_, err = s.as("").Auth().Login(context.Background(), loginBy(method, path, signed(key, "system:serviceaccount:ns:other")))
		if err == nil || !strings.Contains(err.Error(), "invalid subject (sub) claim") {
			log.Fatalf("another account is let in: %v", err)
		}
		must(s.Sys().DisableAuth(path))
	}
}

func signed(key *rsa.PrivateKey, subject string) string {
	now := time.Now().Unix()
	text := part(object{"alg": "RS256"}) + "." + part(object{"sub": subject, "aud": "https://coffer.example", "iat": now, "exp": now + 300})
	digest := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	must(err)
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func part(value object) string {
	text, err := json.Marshal(value)
	must(err)
	return base64.RawURLEncoding.EncodeToString(text)
}

// What the api packages for login methods do, for those that have none.
type jwtLogin struct{ path, token string }

func (login jwtLogin) Login(ctx context.Context, client *client) (*secret, error) {
	return client.Logical().WriteWithContext(ctx, "auth/"+login.path+"/login", object{"role": "app", "jwt": login.token})
}
