import type { Job } from './rpc.ts';
import type { Service } from './service.ts';

/** Protocol of a service's clients. The service itself is independent of protocols. */
export interface DoorKind<S> {
  /**
   * Opens it.
   * @param settings plain JSON, because each process of a server opens it
   */
  open(service: Service, settings: S): Promise<OpenListener<S>>;
  /**
   * Runs a job that a frontend passed to `Service.lanes`, in a separate process. Never throws. Absent for frontends
   * without such jobs.
   */
  work?(service: Service, job: Job): Promise<Job>;
  /** Returns the API description for programmers; absent without one. */
  describe?(): object;
}

/** Open protocol frontend. */
export interface OpenListener<S> {
  /** Addresses: `http://127.0.0.1:8200`, `unix:/run/coffer.sock`. */
  readonly addresses: readonly string[];
  /** Applies changed settings, as far as they can change while it is open. */
  renew(settings: S): void;
  /** Refuses new clients, and finishes requests in progress. */
  close(): Promise<void>;
}
