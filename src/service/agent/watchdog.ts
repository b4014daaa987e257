import type { ChildProcess } from 'node:child_process';
import { elapsedMs } from '../../ground/clock.ts';

/*
 * Kills the process of an agent that does not exit after its timeout because its event loop is busy or blocked in a
 * system call: a shell that sleeps, and kills it then.
 * @see docs/decisions/0280
 */

/** Moment on both clocks of a machine. */
export interface Deadline {
  /** In milliseconds since the epoch. */
  readonly wall: number;
  /** Milliseconds from now, by the monotonic clock. */
  readonly leftMs: number;
}

/** Ends of the timeouts of an open store. */
export interface UnlockDeadlines {
  /** End of the total timeout. */
  readonly latest: Deadline;
  /** End of the idle timeout, and its length in milliseconds. */
  readonly idle: Deadline;
  readonly idleMs: number;
}

/** Delay after the end, in milliseconds, so that an agent can exit by itself and forget its keys first. */
const GRACE_MS = 1200;
/**
 * Minimum delay after the idle timeout, in milliseconds. Each use restarts the idle timeout. The time of a running
 * shell cannot be changed, so it is replaced occasionally.
 */
const LEAST_SLACK_MS = 60_000;
const SECOND_MS = 1000;
/** Usual directories of `sleep` and `date`; the last one is that of NixOS. */
const SYSTEM_PATH = '/usr/bin:/bin:/run/current-system/sw/bin';

/** Exit code of the shell if the system lacks a required program. */
const CAN_NOT = 99;

/**
 * Sleeps in pieces, because the wall clock continues while the machine sleeps and `sleep` does not. The process is
 * killed only while it is the parent of the shell, so never another process with the same PID. A program that was ended
 * by a signal is not missing: the shell exits then as if it had been killed itself. Arguments: PID, fraction of a
 * second, whole seconds, and the end in seconds since the epoch.
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

/** Kills this process some time after an end that can be extended. */
export class Watchdog {
  #shell: ChildProcess | undefined;
  /** Whether the system has no suitable shell or programs. */
  #isHopeless = false;
  /** Time of the kill, on the clock of `elapsedMs`. */
  #at = Number.POSITIVE_INFINITY;

  /**
   * Starts the shell that kills this process after a delay. If a shell is already waiting for another time, replaces
   * it.
   * @param failed called if the watchdog cannot work
   */
  watch({ latest, idle, idleMs }: UnlockDeadlines, failed: (error: unknown) => void): void {
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
    // If another process killed the shell or its programs, the next check starts a new one.
    shell.once('exit', (code) =>
      ended(code === CAN_NOT ? new Error('the system has no suitable "sleep", "date" or "ps"') : undefined),
    );
  }

  /** Stops the watchdog. */
  stop(): void {
    this.#shell?.kill('SIGKILL');
    this.#shell = undefined;
  }
}
