import type { Job } from './frames.ts';
import type { Service } from './service.ts';

/** Protocol of a service's clients. The service itself is independent of protocols. */
export interface DoorKind<S> {
  /**
   * Opens it.
   * @param settings plain JSON, because each process of a server opens it
   */
  open(service: Service, settings: S): Promise<OpenListener<S>>;
  /** Does, in a process of its own, what a door has handed to `Service.lanes`. Never throws. Absent where it hands nothing over. */
  work?(service: Service, job: Job): Promise<Job>;
  /** The document that describes everything behind the door, for those who write programs. Absent where there is none. */
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
