// Encrypts and decrypts as the API server of Kubernetes does, with its own client of KMS version 2.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2"
)

const name = "coffer"

// One of: SOCKET status; SOCKET write FILE TEXT; SOCKET read FILE.
func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, socket, what string, rest []string) error {
	service, err := kmsv2.NewGRPCService(ctx, "unix://"+socket, name, 3*time.Second)
	if err != nil {
		return err
	}
	status, err := service.Status(ctx)
	if err != nil {
		return fmt.Errorf("unhealthy: %w", err)
	}
	if status.Healthz != "ok" || status.Version != "v2" {
		return fmt.Errorf("unhealthy: %s %s", status.Version, status.Healthz)
	}
	if code, err := kmsv2.ValidateKeyID(status.KeyID); err != nil {
		return fmt.Errorf("key id: %s: %w", code, err)
	}
	if what == "status" {
		fmt.Println(status.KeyID)
		return nil
	}
	transformer, object, cacheKey, err := kmsv2.GenerateTransformer(ctx, "a-request", service, true)
	if err != nil {
		return err
	}
	if object.KeyID != status.KeyID {
		return fmt.Errorf("the status has another key id than the answer")
	}
	state := func() (kmsv2.State, error) {
		return kmsv2.State{
			Transformer:                           transformer,
			EncryptedObjectKeyID:                  object.KeyID,
			EncryptedObjectEncryptedDEKSource:     object.EncryptedDEKSource,
			EncryptedObjectAnnotations:            object.Annotations,
			EncryptedObjectEncryptedDEKSourceType: object.EncryptedDEKSourceType,
			UID:                                   "a-request",
			ExpirationTimestamp:                   time.Now().Add(time.Hour),
			CacheKey:                              cacheKey,
			KMSProviderName:                       name,
		}, nil
	}
	envelope := kmsv2.NewEnvelopeTransformer(service, name, state, "")
	where := value.DefaultContext([]byte("/registry/secrets/default/app"))
	if what == "write" {
		stored, err := envelope.TransformToStorage(ctx, []byte(rest[1]), where)
		if err != nil {
			return err
		}
		return os.WriteFile(rest[0], stored, 0o600)
	}
	stored, err := os.ReadFile(rest[0])
	if err != nil {
		return err
	}
	text, stale, err := envelope.TransformFromStorage(ctx, stored, where)
	if err != nil {
		return err
	}
	fmt.Printf("%s %t\n", text, stale)
	return nil
}
