// A plugin of age, written with age's own package for plugins: keys on X25519 that are told from others' by their names, and that may ask for a PIN.
package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"

	"filippo.io/age"
	"filippo.io/age/plugin"
)

const name = "gopher"

// What a PIN has to be, if one is asked for.
const pin = "4711"

func main() {
	p, err := plugin.New(name)
	if err != nil {
		log.Fatal(err)
	}
	p.RegisterFlags(nil)
	generate := flag.Bool("generate", false, "print a new identity")
	withPin := flag.Bool("pin", false, "with -generate: an identity that asks for its PIN")
	flag.Parse()
	if *generate {
		if err := printIdentity(*withPin); err != nil {
			log.Fatal(err)
		}
		return
	}
	p.HandleRecipient(func(data []byte) (age.Recipient, error) {
		public, err := ecdh.X25519().NewPublicKey(data)
		return &recipient{public}, err
	})
	p.HandleIdentity(func(data []byte) (age.Identity, error) {
		return identityOf(p, data)
	})
	p.HandleIdentityAsRecipient(func(data []byte) (age.Recipient, error) {
		i, err := identityOf(p, data)
		if err != nil {
			return nil, err
		}
		return &recipient{i.private.PublicKey()}, nil
	})
	os.Exit(p.Main())
}

func printIdentity(withPin bool) error {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	asks := byte(0)
	if withPin {
		asks = 1
	}
	fmt.Printf("# public key: %s\n", plugin.EncodeRecipient(name, private.PublicKey().Bytes()))
	fmt.Println(plugin.EncodeIdentity(name, append([]byte{asks}, private.Bytes()...)))
	return nil
}

type recipient struct{ public *ecdh.PublicKey }

func (r *recipient) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	ephemeral, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	shared, err := ephemeral.ECDH(r.public)
	if err != nil {
		return nil, err
	}
	share := ephemeral.PublicKey().Bytes()
	seal, err := cipherOf(shared, share, r.public)
	if err != nil {
		return nil, err
	}
	args := []string{base64.RawStdEncoding.EncodeToString(share)}
	body := seal.Seal(nil, make([]byte, seal.NonceSize()), fileKey, nil)
	return []*age.Stanza{{Type: name, Args: args, Body: body}}, nil
}

type identity struct {
	asker   *plugin.Plugin
	asks    bool
	private *ecdh.PrivateKey
}

func identityOf(p *plugin.Plugin, data []byte) (*identity, error) {
	if len(data) != 33 {
		return nil, errors.New("this identity has another length")
	}
	private, err := ecdh.X25519().NewPrivateKey(data[1:])
	return &identity{p, data[0] == 1, private}, err
}

func (i *identity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	isUnlocked := !i.asks
	for _, stanza := range stanzas {
		if stanza.Type != name || len(stanza.Args) != 1 {
			continue
		}
		if !isUnlocked {
			said, err := i.asker.RequestValue("PIN of the gopher", true)
			if err != nil {
				return nil, err
			}
			if said != pin {
				return nil, errors.New("the PIN is wrong")
			}
			isUnlocked = true
		}
		if fileKey, err := i.open(stanza); err == nil {
			return fileKey, nil
		}
	}
	return nil, age.ErrIncorrectIdentity
}

func (i *identity) open(stanza *age.Stanza) ([]byte, error) {
	share, err := base64.RawStdEncoding.DecodeString(stanza.Args[0])
	if err != nil {
		return nil, err
	}
	public, err := ecdh.X25519().NewPublicKey(share)
	if err != nil {
		return nil, err
	}
	shared, err := i.private.ECDH(public)
	if err != nil {
		return nil, err
	}
	seal, err := cipherOf(shared, share, i.private.PublicKey())
	if err != nil {
		return nil, err
	}
	return seal.Open(nil, make([]byte, seal.NonceSize()), stanza.Body, nil)
}

// Each share makes a key of its own, which encrypts once.
func cipherOf(shared, share []byte, to *ecdh.PublicKey) (cipher.AEAD, error) {
	salt := append(append([]byte{}, share...), to.Bytes()...)
	key, err := hkdf.Key(sha256.New, shared, salt, "age-plugin-gopher", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
