// Makes backups.json: backups of named keys in the layout of OpenBao and of Vault, written by Go's own
// encoding/json, math/big and crypto/rsa, with ciphertexts, signatures and HMACs that Go's crypto made under
// the same keys. Nothing here comes from the program under test. See README.md.
package main

import (
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// Something that must hold after a restore.
type check struct {
	Kind           string `json:"kind"`
	Text           string `json:"text"`
	Message        []byte `json:"message"`
	Context        []byte `json:"context,omitempty"`
	Nonce          []byte `json:"nonce,omitempty"`
	AssociatedData []byte `json:"associated_data,omitempty"`
	Algorithm      string `json:"hash_algorithm,omitempty"`
	Scheme         string `json:"signature_algorithm,omitempty"`
	Marshaling     string `json:"marshaling_algorithm,omitempty"`
}

type fixture struct {
	Name   string  `json:"name"`
	About  string  `json:"about"`
	Type   string  `json:"type"`
	Backup string  `json:"backup"`
	Checks []check `json:"checks"`
}

var message = []byte("the quick brown fox")
var context = []byte("my-context")

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func random(size int) []byte {
	out := make([]byte, size)
	must(rand.Read(out))
	return out
}

func numbered(version int, payload []byte) string {
	return "vault:v" + strconv.Itoa(version) + ":" + base64.StdEncoding.EncodeToString(payload)
}

// Times with nine, three and no fraction digits, in another zone, and in UTC.
func timeOf(version int) time.Time {
	zone := time.UTC
	if version == 2 {
		zone = time.FixedZone("", 5400)
	}
	nanoseconds := []int{0, 123456789, 250000000}[version%3]
	return time.Date(2025, time.Month(version), 3, 4, 5, 6, nanoseconds, zone)
}

func blank(version int) entry {
	at := timeOf(version)
	return entry{HMACKey: random(32), Time: at, CreationTime: at.Unix()}
}

func base(name string, kind int) policy {
	return policy{Name: name, Type: kind, Exportable: true, AllowPlaintextBackup: true, MinDecryption: 1,
		BackupInfo: &record{Time: time.Date(2026, 3, 1, 8, 0, 0, 500000000, time.UTC)}}
}

// Puts versions first..latest into the ring (from the lowest usable one) and into the archive.
func assemble(p policy, first int, versions []entry) document {
	latest := first + len(versions) - 1
	p.Latest, p.Archive = latest, latest
	p.BackupInfo.Version = latest
	p.Keys = map[string]entry{}
	kept := []entry{}
	if first == 1 {
		kept = append(kept, entry{})
	} else {
		p.MinAvailable, p.ArchiveMin = first, first
	}
	for i, version := range versions {
		if first+i >= p.MinDecryption {
			p.Keys[strconv.Itoa(first+i)] = version
		}
		kept = append(kept, version)
	}
	return document{Policy: p, Archive: &archive{Keys: kept}}
}

func encode(document any) string {
	return base64.StdEncoding.EncodeToString(append(must(json.Marshal(document)), '\n'))
}

func hkdfBytes(key []byte, info []byte, length int) []byte {
	return must(hkdf.Key(sha256.New, key, nil, string(info), length))
}

func counterKDF(key, context []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte{0, 0, 0, 0})
	mac.Write(context)
	mac.Write(binary.BigEndian.AppendUint32(nil, 256))
	return mac.Sum(nil)
}

func gcm(key []byte) cipher.AEAD { return must(cipher.NewGCM(must(aes.NewCipher(key)))) }

type symmetric struct {
	name   string
	number int
	bytes  int
	aead   func(key []byte) cipher.AEAD
}

var ciphers = []symmetric{
	{"aes256-gcm96", 0, 32, gcm},
	{"aes128-gcm96", 8, 16, gcm},
	{"chacha20-poly1305", 5, 32, func(key []byte) cipher.AEAD { return must(chacha20poly1305.New(key)) }},
	{"xchacha20-poly1305", 11, 32, func(key []byte) cipher.AEAD { return must(chacha20poly1305.NewX(key)) }},
}

func sealed(aead cipher.AEAD, nonce, associated []byte) []byte {
	return append(append([]byte{}, nonce...), aead.Seal(nil, nonce, message, associated)...)
}

func hmacCheck(version int, key []byte) check {
	mac := hmac.New(sha512.New, key)
	mac.Write(message)
	return check{Kind: "hmac", Text: numbered(version, mac.Sum(nil)), Message: message, Algorithm: "sha2-512"}
}

func plainSymmetric(c symmetric) fixture {
	versions := []entry{}
	checks := []check{}
	for v := 1; v <= 11; v++ {
		e := blank(v%12 + 1)
		e.Key = random(c.bytes)
		aead := c.aead(e.Key)
		associated := []byte("of version " + strconv.Itoa(v))
		checks = append(checks,
			check{Kind: "decrypt", Text: numbered(v, sealed(aead, random(aead.NonceSize()), nil)), Message: message},
			check{Kind: "decrypt", Text: numbered(v, sealed(aead, random(aead.NonceSize()), associated)),
				Message: message, AssociatedData: associated},
			hmacCheck(v, e.HMACKey))
		versions = append(versions, e)
	}
	return fixture{c.name, "eleven versions, never trimmed", c.name, encode(assemble(base(c.name, c.number), 1, versions)), checks}
}

func derivedSymmetric(c symmetric) fixture {
	e := blank(1)
	e.Key = random(c.bytes)
	p := base("derived-"+c.name, c.number)
	p.Derived, p.KDF = true, 1
	aead := c.aead(hkdfBytes(e.Key, context, c.bytes))
	checks := []check{{Kind: "decrypt", Text: numbered(1, sealed(aead, random(aead.NonceSize()), nil)), Message: message, Context: context}}
	return fixture{p.Name, "derived, HKDF", c.name, encode(assemble(p, 1, []entry{e})), checks}
}

func convergent(c symmetric, version int) fixture {
	e := blank(1)
	e.Key = random(c.bytes)
	p := base(fmt.Sprintf("convergent-%d-%s", version, c.name), c.number)
	p.Derived, p.Convergent, p.ConvergentVersion = true, true, version
	ck := check{Kind: "decrypt", Message: message, Context: context}
	switch version {
	case 1:
		nonce := random(12)
		ck.Nonce = nonce
		ck.Text = numbered(1, c.aead(counterKDF(e.Key, context)).Seal(nil, nonce, message, nil))
	case 2:
		p.KDF = 1
		mac := hmac.New(sha256.New, context)
		mac.Write(message)
		ck.Text = numbered(1, sealed(c.aead(hkdfBytes(e.Key, context, c.bytes)), mac.Sum(nil)[:12], nil))
	case 3:
		p.KDF, p.ConvergentVersion, e.ConvergentVersion = 1, -1, 3
		both := hkdfBytes(e.Key, context, c.bytes+32)
		mac := hmac.New(sha256.New, both[c.bytes:])
		mac.Write(message)
		aead := c.aead(both[:c.bytes])
		ck.Text = numbered(1, sealed(aead, mac.Sum(nil)[:aead.NonceSize()], nil))
	}
	return fixture{p.Name, "convergent encryption as of version " + strconv.Itoa(version), c.name, encode(assemble(p, 1, []entry{e})), []check{ck}}
}

func trimmed() fixture {
	versions := []entry{}
	checks := []check{}
	for v := 3; v <= 6; v++ {
		e := blank(v)
		e.Key = random(32)
		if v >= 4 {
			checks = append(checks, check{Kind: "decrypt", Text: numbered(v, sealed(gcm(e.Key), random(12), nil)), Message: message})
		}
		versions = append(versions, e)
	}
	p := base("trimmed", 0)
	p.MinDecryption, p.MinEncryption, p.DeletionAllowed = 4, 5, true
	p.AutoRotatePeriod = 24 * time.Hour
	p.RestoreInfo = &record{Time: time.Date(2026, 2, 2, 2, 2, 2, 2, time.UTC), Version: 5}
	return fixture{"trimmed", "versions 1 and 2 trimmed away, minimums and rotation configured", "aes256-gcm96", encode(assemble(p, 3, versions)), checks}
}

func spkiPEM(public any) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: must(x509.MarshalPKIXPublicKey(public))}))
}

func jws(version int, r, s *big.Int, size int) string {
	both := append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
	return "vault:v" + strconv.Itoa(version) + ":" + base64.RawURLEncoding.EncodeToString(both)
}

func ec(name string, number int, curve elliptic.Curve, publicOnly bool) fixture {
	versions := []entry{}
	checks := []check{}
	for v := 1; v <= 2; v++ {
		key := must(ecdsa.GenerateKey(curve, rand.Reader))
		e := blank(v)
		e.ECX, e.ECY, e.ECD = key.X, key.Y, key.D
		if publicOnly && v == 2 {
			e.ECD = nil
		}
		e.PublicKey = spkiPEM(&key.PublicKey)
		digest := sha512.Sum512(message)
		checks = append(checks, check{Kind: "verify", Text: numbered(v, must(ecdsa.SignASN1(rand.Reader, key, digest[:]))), Message: message, Algorithm: "sha2-512"})
		r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
		if err != nil {
			panic(err)
		}
		checks = append(checks, check{Kind: "verify", Text: jws(v, r, s, (curve.Params().BitSize+7)/8), Message: message, Algorithm: "sha2-512", Marshaling: "jws"})
		versions = append(versions, e)
	}
	p := base(name, number)
	about := "two versions"
	if publicOnly {
		p.Name, p.Imported, p.AllowImportedKeyRotation = name+"-public", true, true
		about = "imported, the second version as a public key alone"
	}
	return fixture{p.Name, about, name, encode(assemble(p, 1, versions)), checks}
}

func ed(derived bool) fixture {
	e := blank(1)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	e.Key = private
	e.PublicKey = base64.StdEncoding.EncodeToString(public)
	p := base("ed25519", 2)
	ck := check{Kind: "verify", Message: message}
	about := "one version"
	if derived {
		p.Name, p.Derived, p.KDF = "derived-ed25519", true, 1
		private = ed25519.NewKeyFromSeed(hkdfBytes(private, context, 32))
		ck.Context = context
		about = "derived, HKDF over seed and public key"
	}
	ck.Text = numbered(1, ed25519.Sign(private, message))
	return fixture{p.Name, about, "ed25519", encode(assemble(p, 1, []entry{e})), []check{ck}}
}

func rsaKey(name string, number, bits int) fixture {
	versions := []entry{}
	checks := []check{}
	for v := 1; v <= 2; v++ {
		key := must(rsa.GenerateKey(rand.Reader, bits))
		e := blank(v)
		e.RSAKey = key
		digest := sha256.Sum256(message)
		checks = append(checks,
			check{Kind: "decrypt", Text: numbered(v, must(rsa.EncryptOAEP(sha256.New(), rand.Reader, &key.PublicKey, message, nil))), Message: message},
			check{Kind: "verify", Text: numbered(v, must(rsa.SignPSS(rand.Reader, key, crypto.SHA256, digest[:], nil))), Message: message, Scheme: "pss"},
			check{Kind: "verify", Text: numbered(v, must(rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:]))), Message: message, Scheme: "pkcs1v15"})
		versions = append(versions, e)
	}
	return fixture{name, "two versions", name, encode(assemble(base(name, number), 1, versions)), checks}
}

func rsaPublic() fixture {
	key := must(rsa.GenerateKey(rand.Reader, 2048))
	e := blank(1)
	e.RSAPublicKey = &key.PublicKey
	p := base("rsa-2048-public", 3)
	p.Imported = true
	digest := sha256.Sum256(message)
	checks := []check{{Kind: "verify", Text: numbered(1, must(rsa.SignPSS(rand.Reader, key, crypto.SHA256, digest[:], nil))), Message: message}}
	return fixture{p.Name, "imported as a public key alone", "rsa-2048", encode(assemble(p, 1, []entry{e})), checks}
}

func mac(number int) fixture {
	e := blank(1)
	e.Key = random(48)
	e.HMACKey = e.Key
	p := base("hmac", number)
	p.KeySize = 48
	return fixture{"hmac", "a key of 48 bytes", "hmac", encode(assemble(p, 1, []entry{e})), []check{hmacCheck(1, e.Key)}}
}

func main() {
	fixtures := []fixture{}
	for _, c := range ciphers {
		fixtures = append(fixtures, plainSymmetric(c), derivedSymmetric(c), convergent(c, 3))
		if c.number != 11 {
			fixtures = append(fixtures, convergent(c, 2))
		}
	}
	fixtures = append(fixtures, convergent(ciphers[0], 1), convergent(ciphers[2], 1), trimmed())
	fixtures = append(fixtures, ec("ecdsa-p256", 1, elliptic.P256(), false), ec("ecdsa-p384", 6, elliptic.P384(), false),
		ec("ecdsa-p521", 7, elliptic.P521(), false), ec("ecdsa-p256", 1, elliptic.P256(), true), ed(false), ed(true))
	fixtures = append(fixtures, rsaKey("rsa-2048", 3, 2048), rsaKey("rsa-3072", 9, 3072), rsaKey("rsa-4096", 4, 4096), rsaPublic(), mac(10))
	fixtures = append(fixtures, vaultFixtures()...)
	out := must(json.MarshalIndent(fixtures, "", " "))
	if err := os.WriteFile("backups.json", append(out, '\n'), 0o644); err != nil {
		panic(err)
	}
}
