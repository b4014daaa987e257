// The secrets of gocloud.dev. The parameter is the title of a check; what is wrong goes to standard error.
package main

import (
	"context"
	"log"
	"os"
	"strings"

	"gocloud.dev/secrets"
	_ "gocloud.dev/secrets/hashivault"
)

var checks = map[string]func(context.Context){
	"encrypts and decrypts through a URL": roundTrip,
	"learns why a ciphertext is refused":  refusal,
}

func main() {
	if len(os.Args) != 2 || checks[os.Args[1]] == nil {
		log.Fatalf("no such check: %q", os.Args[1:])
	}
	checks[os.Args[1]](context.Background())
}

func open(ctx context.Context) *secrets.Keeper {
	keeper, err := secrets.OpenKeeper(ctx, "hashivault://orders") // VAULT_ADDR, VAULT_TOKEN
	if err != nil {
		log.Fatal(err)
	}
	return keeper
}

func roundTrip(ctx context.Context) {
	keeper := open(ctx)
	defer keeper.Close()
	ciphertext, err := keeper.Encrypt(ctx, []byte("credit card 4242"))
	if err != nil {
		log.Fatal(err)
	}
	plaintext, err := keeper.Decrypt(ctx, ciphertext)
	if err != nil {
		log.Fatal(err)
	}
	if string(plaintext) != "credit card 4242" {
		log.Fatalf("decrypted: %q", plaintext)
	}
}

func refusal(ctx context.Context) {
	keeper := open(ctx)
	defer keeper.Close()
	_, err := keeper.Decrypt(ctx, []byte("vault:v1:AAAA"))
	if err == nil || !strings.Contains(err.Error(), "invalid ciphertext length") {
		log.Fatalf("the refusal is %v", err)
	}
}
