import type { ChildProcess } from 'node:child_process';
import { elapsedMs } from '../../ground/clock.ts';

/*
 * Ends the process of an agent when its time is up and its event loop does not do so, because it is busy with one thing or waits in a call of the
 * system: a shell that sleeps, and kills it then.
 * @see docs/decisions/0280
 */

/** A moment on both clocks of a machine. */
export interface Deadline {
  /** Milliseconds since 1970. */
  readonly wall: number;
  /** Milliseconds from now, by the clock that nobody sets. */
  readonly leftMs: number;
}

/** How long a store may stay open. */
export interface Ends {
  /** In any case. */
  readonly latest: Deadline;
  /** Without use, and what that time is. */
  readonly idle: Deadline;
  readonly idleMs: number;
}

/** So much later than the end, for an agent that ends by itself forgets its keys first. */
const GRACE_MS = 1200;
/**
 * The end without use moves with each use. A shell can't be told so, and another one takes its place now and then: what it waits for
 * is at least this much later.
 */
const LEAST_SLACK_MS = 60_000;
const SECOND_MS = 1000;
/** Where systems have `sleep` and `date`; the last one is that of NixOS. */
const SYSTEM_PATH = '/usr/bin:/bin:/run/current-system/sw/bin';

/** The shell's exit code where the system has not what it needs. */
const CAN_NOT = 99;

/**
 * Sleeps in pieces, because the clock of the wall goes on while the machine sleeps and this does not. The process is killed as long as it is the
 * parent of the shell, and so never another one that has its number. What a signal has ended is not missing: then the shell ends as if it had
 * been killed itself.
 * Arguments: process, a part of a second, whole seconds, and the end in seconds since 1970.
 */
const SCRIPT = `
pid=$1 left=$3 end=$4
failed() { [ "$1" -gt 128 ] && exit 1; exit ${CAN_NOT}; }
is_child() {
  if [ -r /proc/$$/stat ]; then read -r _ _ _ parent _ < /proc/$$/stat; else parent=$(ps -o ppid= -p $$) || failed $?; fi
  [ "$((parent))" = "$pid" ] || exit 0
}
sleep "$2" || failed $?
while [ "$left" -gt 0 ]; do
  now=$(date +%s) || failed $?
  [ "$now" -lt "$end" ] || break
  piece=10
  [ "$left" -ge "$piece" ] || piece=$left
  sleep "$piece" || failed $?
  left=$((left - piece))
  is_child
done
is_child
kill -KILL "$pid"
`;

/** Kills this process some time after an end that can be put off. */
export class Watchdog {
  #shell: ChildProcess | undefined;
  /** The system has no shell, or none that can sleep. */
  #isHopeless = false;
  /** When it kills, by `elapsedMs`. */
  #at = Number.POSITIVE_INFINITY;

  /**
   * Looks, now and then, whether it still waits for the right moment.
   * @param failed called when there can be none.
   */
  watch({ latest, idle, idleMs }: Ends, failed: (error: unknown) => void): void {
    if (this.#isHopeless) return;
    const slackMs = Math.max(idleMs, LEAST_SLACK_MS);
    const afterMs = Math.min(latest.leftMs + GRACE_MS, idle.leftMs + slackMs);
    const at = elapsedMs() + afterMs;
    const left = this.#at - elapsedMs();
    const isLater = at - this.#at > slackMs / 2 || (at > this.#at && left < slackMs / 2);
    if (this.#shell !== undefined && at >= this.#at - 1 && !isLater) return;
    const wall = Math.min(latest.wall + GRACE_MS, idle.wall + slackMs);
    const before = this.#shell;
    this.#start(afterMs, wall, failed);
    this.#at = at;
    before?.kill('SIGKILL');
  }

  #start(afterMs: number, wall: number, failed: (error: unknown) => void): void {
    const { spawn } = process.getBuiltinModule('node:child_process');
    const whole = Math.floor(afterMs / SECOND_MS);
    const part = ((afterMs % SECOND_MS) / SECOND_MS).toFixed(3);
    const told = [process.pid, part, whole, Math.ceil(wall / SECOND_MS)].map(String);
    const shell = spawn('/bin/sh', ['-c', SCRIPT, 'coffer-watchdog', ...told], {
      cwd: '/',
      env: { PATH: SYSTEM_PATH },
      stdio: 'ignore',
    });
    this.#shell = shell;
    shell.unref();
    const ended = (error?: Error): void => {
      if (this.#shell !== shell) return;
      this.#shell = undefined;
      if (error === undefined) return;
      this.#isHopeless = true;
      failed(error);
    };
    shell.once('error', ended);
    // One that somebody killed, or whose programs, gets a successor at the next look.
    shell.once('exit', (code) =>
      ended(
        code === CAN_NOT
          ? new Error('the system has no "sleep", "date" or "ps" as it needs them')
          : undefined,
      ),
    );
  }

  /** Kills nothing any more. */
  stop(): void {
    this.#shell?.kill('SIGKILL');
    this.#shell = undefined;
  }
}
