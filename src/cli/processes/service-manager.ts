import { type Environment, variable } from '../given.ts';

/** The manager that has started this process and wants to hear from it (sd_notify). */
export interface ServiceManager {
  /** It has what it needs and listens. From now on it says at the manager's pace that it lives, if that is wanted. */
  ready(): void;
  /** It ends by itself. */
  stopping(): void;
}

const MICROSECONDS = 1000;
/** One more than sd_watchdog_enabled advises: one that is lost or late leaves time for the next. */
const BEATS_IN_TIME = 3;

/**
 * Tells systemd through its own program, since Node has no sockets of the kind that NOTIFY_SOCKET is. So the unit must say NotifyAccess=all.
 * @param warn is told once that nothing could be said.
 * @returns undefined where nobody listens.
 * @see docs/decisions/0225
 */
export function serviceManager(
  environment: Environment,
  warn: (text: string) => void,
): ServiceManager | undefined {
  const socket = variable(environment, 'NOTIFY_SOCKET');
  if (socket === undefined) return undefined;
  const { spawn } = process.getBuiltinModule('node:child_process');
  const beatMs = watchdogMs(environment) / BEATS_IN_TIME;
  let beat: NodeJS.Timeout | undefined;
  let speaking = false;
  let warned = false;
  const failed = (why: string): void => {
    speaking = false;
    if (!warned) warn(`the service manager can't be told anything: ${why}`);
    warned = true;
  };
  const tell = (state: string): void => {
    speaking = true;
    const env = { NOTIFY_SOCKET: socket, PATH: environment['PATH'] };
    const child = spawn('systemd-notify', [state], { stdio: 'ignore', env });
    child.once('error', (error) => failed(error.message));
    child.once('exit', (code) => {
      if (code === 0) speaking = false;
      else failed(`systemd-notify ended with ${code}`);
    });
    child.unref();
  };
  return {
    ready() {
      tell('READY=1');
      if (!Number.isFinite(beatMs)) return;
      // One that has not been heard yet is waited for: the next one would say no more.
      beat = setInterval(() => speaking || tell('WATCHDOG=1'), beatMs);
      beat.unref();
    },
    stopping() {
      clearInterval(beat);
      tell('STOPPING=1');
    },
  };
}

/** After how long without a word the manager ends this process; infinity where it doesn't. */
function watchdogMs(environment: Environment): number {
  const time = variable(environment, 'WATCHDOG_USEC');
  const meant = variable(environment, 'WATCHDOG_PID');
  if (time === undefined || !/^[1-9]\d*$/.test(time)) return Infinity;
  return meant === undefined || meant === String(process.pid) ? Number(time) / MICROSECONDS : Infinity;
}
