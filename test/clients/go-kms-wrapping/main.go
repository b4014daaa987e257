// The transit wrapper of go-kms-wrapping, with which programs seal themselves. The parameter is the title of a check.
package main

import (
	"bytes"
	"context"
	"log"
	"os"

	"github.com/hashicorp/go-kms-wrapping/v2"
	"github.com/hashicorp/go-kms-wrapping/wrappers/transit/v2"
	"github.com/hashicorp/vault/api"
)

var checks = map[string]func(context.Context, wrapping.Wrapper){
	"wraps and unwraps a root key":                  roundTrip,
	"tells the version of the key after a rotation": rotation,
}

func main() {
	if len(os.Args) != 2 || checks[os.Args[1]] == nil {
		log.Fatalf("no such check: %q", os.Args[1:])
	}
	ctx := context.Background()
	wrapper := transit.NewWrapper() // VAULT_ADDR, VAULT_TOKEN
	_, err := wrapper.SetConfig(ctx, transit.WithMountPath("transit/"), transit.WithKeyName("unseal"))
	must(err)
	checks[os.Args[1]](ctx, wrapper)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

var rootKey = bytes.Repeat([]byte{42}, 32)

func roundTrip(ctx context.Context, wrapper wrapping.Wrapper) {
	blob, err := wrapper.Encrypt(ctx, rootKey)
	must(err)
	plaintext, err := wrapper.Decrypt(ctx, blob)
	must(err)
	if !bytes.Equal(plaintext, rootKey) {
		log.Fatalf("unwrapped: %x", plaintext)
	}
}

func rotation(ctx context.Context, wrapper wrapping.Wrapper) {
	before, err := wrapper.Encrypt(ctx, rootKey)
	must(err)
	client, err := api.NewClient(api.DefaultConfig())
	must(err)
	_, err = client.Logical().Write("transit/keys/unseal/rotate", nil)
	must(err)
	after, err := wrapper.Encrypt(ctx, rootKey)
	must(err)
	if before.KeyInfo.KeyId == after.KeyInfo.KeyId {
		log.Fatalf("the id of the key is %q, before and after", after.KeyInfo.KeyId)
	}
	_, err = wrapper.Decrypt(ctx, before)
	must(err)
}
