package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"log"
	"slices"
	"strings"

	"github.com/tink-crypto/tink-go/v2/kwp/subtle"
)

var (
	aead      = []string{"aes128-gcm96", "aes256-gcm96", "chacha20-poly1305"}
	elliptics = []string{"ecdsa-p256", "ecdsa-p384", "ecdsa-p521"}
	rsas      = []string{"rsa-2048", "rsa-3072", "rsa-4096"}
	signing   = slices.Concat(elliptics, rsas, []string{"ed25519"})
)

func (s server) key(name, kind string, more object) {
	parameters := object{"type": kind}
	for parameter, value := range more {
		parameters[parameter] = value
	}
	s.write("transit/keys/"+name, parameters)
}

func keysOfEveryType(s server) {
	for _, kind := range slices.Concat(aead, signing, []string{"hmac"}) {
		name := "every-" + kind
		key := "transit/keys/" + name
		more := object{}
		if kind == "hmac" {
			more["key_size"] = 48
		}
		s.key(name, kind, more)
		described := s.read(key)
		expect("type", described["type"], kind)
		expect("latest_version", described["latest_version"], 1)
		s.write(key+"/rotate", nil)
		s.write(key+"/rotate", nil)
		s.write(key+"/config", object{"min_decryption_version": 2, "min_encryption_version": 2, "auto_rotate_period": "720h"})
		s.write(key+"/trim", object{"min_available_version": 2})
		described = s.read(key)
		expect("latest_version", described["latest_version"], 3)
		expect("min_available_version", described["min_available_version"], 2)
		expect("auto_rotate_period", described["auto_rotate_period"], 720*3600)
		if !slices.Contains(s.list("transit/keys"), name) {
			log.Fatalf("%s is not listed", name)
		}
		if _, err := s.Logical().Delete(key); err == nil {
			log.Fatalf("%s was deleted before that was allowed", name)
		}
		s.write(key+"/config", object{"deletion_allowed": true})
		s.remove(key)
		expect("a deleted key", s.read(key), nil)
	}
}

func encryption(s server) {
	client := s.client
	secret, err := client.Logical().Write("transit/encrypt/orders", map[string]any{"plaintext": inBase64("4242")})
	must(err)
	ciphertext := secret.Data["ciphertext"]
	opened := s.write("transit/decrypt/orders", object{"ciphertext": ciphertext})
	expect("plaintext", opened["plaintext"], inBase64("4242"))

	for _, kind := range slices.Concat(aead, rsas) {
		name := "secret-" + kind
		s.key(name, kind, nil)
		ciphertext := s.write("transit/encrypt/"+name, object{"plaintext": inBase64("a secret")})["ciphertext"]
		if !strings.HasPrefix(text(ciphertext), "vault:v1:") {
			log.Fatalf("a ciphertext begins with %.9s", ciphertext)
		}
		s.write("transit/keys/"+name+"/rotate", nil)
		rewrapped := s.write("transit/rewrap/"+name, object{"ciphertext": ciphertext})["ciphertext"]
		if !strings.HasPrefix(text(rewrapped), "vault:v2:") {
			log.Fatalf("a rewrapped ciphertext begins with %.9s", rewrapped)
		}
		for _, each := range []any{ciphertext, rewrapped} {
			decrypted := s.write("transit/decrypt/"+name, object{"ciphertext": each})
			expect("plaintext", decrypted["plaintext"], inBase64("a secret"))
		}
		items := []object{{"plaintext": inBase64("one")}, {"plaintext": inBase64("two")}}
		batch := s.write("transit/encrypt/"+name, object{"batch_input": items})["batch_results"].([]any)
		rewrappedBatch := s.write("transit/rewrap/"+name, object{"batch_input": batch})["batch_results"]
		plaintexts := s.write("transit/decrypt/"+name, object{"batch_input": rewrappedBatch})["batch_results"].([]any)
		expect("the second of a batch", plaintexts[1].(object)["plaintext"], inBase64("two"))
	}
	made := s.write("transit/encrypt/secret-with-data", object{
		"plaintext": inBase64("x"), "associated_data": inBase64("header"),
	})["ciphertext"]
	s.refused("transit/decrypt/secret-with-data", object{"ciphertext": made}, "400")
	s.write("transit/decrypt/secret-with-data", object{"ciphertext": made, "associated_data": inBase64("header")})
}

func derivation(s server) {
	for _, kind := range aead {
		name := "derived-" + kind
		s.key(name, kind, object{"derived": true, "convergent_encryption": true})
		parameters := object{"plaintext": inBase64("alike"), "context": inBase64("a tenant")}
		first := s.write("transit/encrypt/"+name, parameters)["ciphertext"]
		expect("the second ciphertext", s.write("transit/encrypt/"+name, parameters)["ciphertext"], first)
		s.refused("transit/decrypt/"+name, object{"ciphertext": first, "context": inBase64("another")}, "400")
		decrypted := s.write("transit/decrypt/"+name, object{"ciphertext": first, "context": inBase64("a tenant")})
		expect("plaintext", decrypted["plaintext"], inBase64("alike"))
	}
	s.key("derived-signer", "ed25519", object{"derived": true})
	message := object{"input": inBase64("m"), "context": inBase64("a tenant")}
	message["signature"] = s.write("transit/sign/derived-signer", message)["signature"]
	expect("valid", s.write("transit/verify/derived-signer", message)["valid"], true)
}

func signatures(s server) {
	for _, kind := range signing {
		name := "signer-" + kind
		s.key(name, kind, nil)
		ways := []object{{}, {"hash_algorithm": "sha2-512"}}
		if slices.Contains(elliptics, kind) {
			ways = append(ways, object{"marshaling_algorithm": "jws"})
		}
		if slices.Contains(rsas, kind) {
			ways = append(ways, object{"signature_algorithm": "pkcs1v15"}, object{"salt_length": "hash"})
		}
		if kind != "ed25519" {
			digest := sha256.Sum256([]byte("a message"))
			ways = append(ways, object{"prehashed": true, "input": base64.StdEncoding.EncodeToString(digest[:])})
		}
		for _, way := range ways {
			if way["input"] == nil {
				way["input"] = inBase64("a message")
			}
			way["signature"] = s.write("transit/sign/"+name, way)["signature"]
			expect("valid", s.write("transit/verify/"+name, way)["valid"], true)
			way["input"] = inBase64("an entirely other message, 32 B.")
			expect("valid for another message", s.write("transit/verify/"+name, way)["valid"], false)
		}
		s.write("transit/keys/"+name+"/rotate", nil)
		batch := s.write("transit/sign/"+name+"/sha2-256", object{"batch_input": []object{{"input": inBase64("one")}}})
		signature := text(batch["batch_results"].([]any)[0].(object)["signature"])
		if !strings.HasPrefix(signature, "vault:v2:") {
			log.Fatalf("a signature begins with %.9s", signature)
		}
	}
}

func hmacs(s server) {
	s.key("mac", "hmac", object{"key_size": 64})
	s.key("mac-of-another", "aes256-gcm96", nil)
	for _, name := range []string{"mac", "mac-of-another"} {
		for _, hash := range []string{"sha2-256", "sha2-512", "sha3-384"} {
			mac := s.write("transit/hmac/"+name+"/"+hash, object{"input": inBase64("m")})["hmac"]
			parameters := object{"input": inBase64("m"), "hmac": mac}
			expect("valid", s.write("transit/verify/"+name+"/"+hash, parameters)["valid"], true)
			parameters["input"] = inBase64("n")
			expect("valid for another", s.write("transit/verify/"+name+"/"+hash, parameters)["valid"], false)
		}
	}
}

func dataKeys(s server) {
	s.key("wrapper", "aes256-gcm96", nil)
	made := s.write("transit/datakey/plaintext/wrapper", object{"bits": 512})
	expect("bytes of a data key", len(bytesOf(made["plaintext"])), 64)
	decrypted := s.write("transit/decrypt/wrapper", object{"ciphertext": made["ciphertext"]})
	expect("the data key", decrypted["plaintext"], made["plaintext"])
	expect("what is not shown", s.write("transit/datakey/wrapped/wrapper", nil)["plaintext"], nil)
	expect("random bytes", len(bytesOf(s.write("transit/random/24", nil)["random_bytes"])), 24)
	expect("random bytes in hex", len(text(s.write("transit/random", object{"format": "hex"})["random_bytes"])), 64)
	digest := sha256.Sum256([]byte("a message"))
	sum := s.write("transit/hash/sha2-256", object{"input": inBase64("a message")})["sum"]
	expect("sum", sum, hex.EncodeToString(digest[:]))
}

func movingKeys(s server) {
	for _, kind := range slices.Concat(aead, signing) {
		name := "moving-" + kind
		s.key(name, kind, object{"exportable": true, "allow_plaintext_backup": true})
		exports := []string{"hmac-key"}
		if !slices.Contains(signing, kind) || slices.Contains(rsas, kind) {
			exports = append(exports, "encryption-key")
		}
		if slices.Contains(signing, kind) {
			exports = append(exports, "signing-key", "public-key")
		}
		for _, what := range exports {
			keys := s.read("transit/export/" + what + "/" + name)["keys"].(object)
			expect(what+" of the latest version", s.read("transit/export/" + what + "/" + name + "/latest")["keys"], keys)
		}
		backup := s.read("transit/backup/" + name)["backup"]
		s.refused("transit/restore", object{"backup": backup}, "400")
		s.write("transit/restore/copy-of-"+name, object{"backup": backup})
		mac := s.write("transit/hmac/"+name, object{"input": inBase64("m")})["hmac"]
		valid := s.write("transit/verify/copy-of-"+name, object{"input": inBase64("m"), "hmac": mac})["valid"]
		expect("valid with the copy", valid, true)
	}
}

// Wraps a key for import: an AES key under RSA-OAEP, and under that the key itself (RFC 5649).
func (s server) wrapped(material []byte) string {
	block, _ := pem.Decode([]byte(text(s.read("transit/wrapping_key")["public_key"])))
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	must(err)
	ephemeral := make([]byte, 32)
	rand.Read(ephemeral)
	outer, err := rsa.EncryptOAEP(sha256.New(), rand.Reader, public.(*rsa.PublicKey), ephemeral, nil)
	must(err)
	kwp, err := subtle.NewKWP(ephemeral)
	must(err)
	inner, err := kwp.Wrap(material)
	must(err)
	return base64.StdEncoding.EncodeToString(bytes.Join([][]byte{outer, inner}, nil))
}

func imports(s server) {
	material := bytes.Repeat([]byte{7}, 32)
	s.write("transit/keys/from-outside/import", object{
		"ciphertext": s.wrapped(material), "hash_function": "SHA256", "type": "aes256-gcm96", "allow_rotation": true, "exportable": true,
	})
	s.write("transit/keys/from-outside/import_version", object{"ciphertext": s.wrapped(material), "hash_function": "SHA256"})
	keys := s.read("transit/export/encryption-key/from-outside")["keys"]
	encoded := base64.StdEncoding.EncodeToString(material)
	expect("imported versions", keys, object{"1": encoded, "2": encoded})

	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	private, err := x509.MarshalPKCS8PrivateKey(pair)
	must(err)
	s.write("transit/keys/signer-from-outside/import", object{
		"ciphertext": s.wrapped(private), "hash_function": "SHA256", "type": "ecdsa-p256",
	})
	digest := sha256.Sum256([]byte("m"))
	signature, err := ecdsa.SignASN1(rand.Reader, pair, digest[:])
	must(err)
	valid := s.write("transit/verify/signer-from-outside", object{
		"input": inBase64("m"), "signature": "vault:v1:" + base64.StdEncoding.EncodeToString(signature),
	})["valid"]
	expect("valid", valid, true)

	// Another server's wrapping key is a public key like any other.
	wrapping := s.read("transit/wrapping_key")["public_key"]
	s.write("transit/keys/destination/import", object{"public_key": wrapping, "type": "rsa-4096"})
	s.key("travelling", "aes256-gcm96", object{"exportable": true})
	made := s.write("transit/encrypt/travelling", object{"plaintext": inBase64("far")})["ciphertext"]
	parcel := s.read("transit/byok-export/destination/travelling")["keys"].(object)["1"]
	s.write("transit/keys/arrived/import", object{"ciphertext": parcel, "hash_function": "SHA256", "type": "aes256-gcm96"})
	arrived := s.write("transit/decrypt/arrived", object{"ciphertext": made})
	expect("what another decrypts", arrived["plaintext"], inBase64("far"))
}

func softDeletion(s server) {
	s.key("resting", "aes256-gcm96", nil)
	s.write("transit/keys/resting/config", object{"deletion_allowed": true})
	s.remove("transit/keys/resting/soft-delete")
	s.refused("transit/encrypt/resting", object{"plaintext": ""}, "400")
	s.write("transit/keys/resting/soft-delete-restore", nil)
	s.write("transit/encrypt/resting", object{"plaintext": ""})
}

func mountSettings(s server) {
	s.write("transit/cache-config", object{"size": 500})
	expect("size", s.read("transit/cache-config")["size"], 500)
	s.write("transit/cache-config", object{"size": 0})
	s.write("transit/config/keys", object{"disable_upsert": true})
	expect("disable_upsert", s.read("transit/config/keys")["disable_upsert"], true)
	s.refused("transit/encrypt/nobody-made-this", object{"plaintext": ""}, "400")
	s.write("transit/config/keys", object{"disable_upsert": false})
}
