import type { Job } from './frames.ts';
import type { Service } from './service.ts';

/** A protocol through which the callers of a service come in. The service itself speaks none. */
export interface DoorKind<S> {
  /** Opens it. @param settings plain JSON: it is opened so in each process of a server. */
  open(service: Service, settings: S): Promise<Door<S>>;
  /** Does, in a process of its own, what a door has handed to `Service.lanes`. Never throws. */
  work(service: Service, job: Job): Promise<Job>;
  /** The document that describes everything behind the door, for those who write programs. */
  describe(): object;
}

/** One that is open. */
export interface Door<S> {
  /** Where it is found: `http://127.0.0.1:8200`, `unix:/run/coffer.sock`. */
  readonly addresses: readonly string[];
  /** Takes up what changed in its settings and can change while it is open. */
  renew(settings: S): void;
  /** Lets nobody in any more, and finishes what has begun. */
  close(): Promise<void>;
}
