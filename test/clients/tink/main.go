// Tink's integration of Vault's transit. The parameter is the title of a check; what is wrong goes to standard error.
package main

import (
	"bytes"
	"log"
	"os"

	"github.com/hashicorp/vault/api"
	"github.com/tink-crypto/tink-go-hcvault/v2/integration/hcvault"
	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"
)

var checks = map[string]func(tink.AEAD){
	"encrypts and decrypts, with associated data":        direct,
	"encrypts envelopes under a key of the server":       envelope,
	"keeps a keyset encrypted under a key of the server": sealedKeyset,
}

func main() {
	if len(os.Args) != 2 || checks[os.Args[1]] == nil {
		log.Fatalf("no such check: %q", os.Args[1:])
	}
	client, err := api.NewClient(api.DefaultConfig()) // VAULT_ADDR, VAULT_TOKEN
	must(err)
	remote, err := hcvault.NewAEAD("/transit/keys/orders", client.Logical())
	must(err)
	checks[os.Args[1]](remote)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

var plaintext, data = []byte("credit card 4242"), []byte("row 17")

func roundTrip(cipher tink.AEAD) {
	ciphertext, err := cipher.Encrypt(plaintext, data)
	must(err)
	decrypted, err := cipher.Decrypt(ciphertext, data)
	must(err)
	if !bytes.Equal(decrypted, plaintext) {
		log.Fatalf("decrypted: %q", decrypted)
	}
	if _, err = cipher.Decrypt(ciphertext, []byte("row 18")); err == nil {
		log.Fatal("other associated data was taken")
	}
}

func direct(remote tink.AEAD) { roundTrip(remote) }

func envelope(remote tink.AEAD) {
	roundTrip(aead.NewKMSEnvelopeAEAD2(aead.AES256GCMKeyTemplate(), remote))
}

func sealedKeyset(remote tink.AEAD) {
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	must(err)
	var file bytes.Buffer
	must(handle.Write(keyset.NewJSONWriter(&file), remote))
	again, err := keyset.Read(keyset.NewJSONReader(&file), remote)
	must(err)
	cipher, err := aead.New(again)
	must(err)
	roundTrip(cipher)
}
