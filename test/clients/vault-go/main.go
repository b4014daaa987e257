// Every operation of transit, and those around it, through the Go client of Vault's, or of OpenBao's with the tag openbao.
// The parameter is the title of a check; what is wrong goes to standard error.
package main

import (
	"encoding/base64"
	"encoding/json"
	"log"
	"os"
	"reflect"
	"strconv"
	"strings"
)

var checks = map[string]func(server){
	"makes, configures, rotates, trims and deletes a key of every type": keysOfEveryType,
	"encrypts, decrypts and rewraps, one value or many":                 encryption,
	"encrypts for a context, and to equal ciphertexts":                  derivation,
	"signs and verifies with every type that signs":                     signatures,
	"makes and verifies HMACs, also with keys of a chosen length":       hmacs,
	"makes data keys, random bytes and hashes":                          dataKeys,
	"exports, backs up and restores":                                    movingKeys,
	"imports keys, adds versions to them, and wraps a key for another":  imports,
	"soft-deletes a key and brings it back":                             softDeletion,
	"reads and sets the cache and the defaults of keys":                 mountSettings,
	"mounts, tunes, moves and unmounts":                                 mounts,
	"writes, reads, lists and deletes policies":                         policies,
	"creates, looks up, renews and revokes tokens":                      tokens,
	"logs in with a signed token, as a pod and as a job":                signedTokens,
	"reads health, seal status, leader and capabilities":                status,
	"logs in with a password and with a secret ID, wrapped or not":      logins,
	"wraps answers, and unwraps them once":                              wrapping,
}

func main() {
	log.SetFlags(log.Lshortfile)
	if len(os.Args) != 2 || checks[os.Args[1]] == nil {
		log.Fatalf("no such check: %q", os.Args[1:])
	}
	client, err := connect()
	must(err)
	checks[os.Args[1]](server{client})
}

// A server, and what every check does with it.
type server struct{ *client }

type object = map[string]any

func (s server) write(path string, data object) object {
	secret, err := s.Logical().Write(path, data)
	return dataOf(path, secret, err)
}

func (s server) read(path string) object {
	secret, err := s.Logical().Read(path)
	return dataOf(path, secret, err)
}

func (s server) list(path string) []string {
	secret, err := s.Logical().List(path)
	return texts(dataOf("LIST "+path, secret, err)["keys"])
}

func (s server) remove(path string) {
	_, err := s.Logical().Delete(path)
	must(err)
}

// What must be refused, and how.
func (s server) refused(path string, data object, status string) {
	_, err := s.Logical().Write(path, data)
	if err == nil || !strings.Contains(err.Error(), "Code: "+status) {
		log.Output(2, "not refused with "+status+": "+path+": "+errorText(err))
		os.Exit(1)
	}
}

func dataOf(path string, secret *secret, err error) object {
	if err != nil {
		log.Output(3, path+": "+err.Error())
		os.Exit(1)
	}
	if secret == nil {
		return nil
	}
	return secret.Data
}

func errorText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

func must(err error) {
	if err != nil {
		log.Output(2, err.Error())
		os.Exit(1)
	}
}

func expect(what string, got, wanted any) {
	if !reflect.DeepEqual(plain(got), plain(wanted)) {
		log.Output(2, what+" is "+inJSON(got)+", not "+inJSON(wanted))
		os.Exit(1)
	}
}

// The same value whatever Go type a number or a list has.
func plain(value any) (result any) {
	must(json.Unmarshal([]byte(inJSON(value)), &result))
	return result
}

func inJSON(value any) string {
	encoded, err := json.Marshal(value)
	must(err)
	return string(encoded)
}

func text(value any) string {
	result, ok := value.(string)
	if !ok {
		log.Output(2, "no text: "+inJSON(value))
		os.Exit(1)
	}
	return result
}

func texts(value any) (result []string) {
	for _, each := range value.([]any) {
		result = append(result, text(each))
	}
	return result
}

func number(value any) int64 {
	result, err := strconv.ParseInt(string(value.(json.Number)), 10, 64)
	must(err)
	return result
}

func inBase64(value string) string { return base64.StdEncoding.EncodeToString([]byte(value)) }

func bytesOf(value any) []byte {
	decoded, err := base64.StdEncoding.DecodeString(text(value))
	must(err)
	return decoded
}
