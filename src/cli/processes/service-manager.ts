import { type Environment, variable } from '../given.ts';

const MICROSECONDS = 1000;
/**
 * Number of keep-alives per watchdog interval, one more than sd_watchdog_enabled recommends: if one is lost or late,
 * the next is still in time.
 */
const BEATS_IN_TIME = 3;

/**
 * Returns the notifier for systemd, the service manager that started this process (sd_notify), which uses systemd-notify, since Node has no sockets of the type of NOTIFY_SOCKET.
 * The unit therefore needs NotifyAccess=all.
 * @param warn called once if notifications fail
 * @returns undefined without a service manager
 * @see docs/decisions/0225
 */
export function serviceManager(environment: Environment, warn: (text: string) => void) {
  const socket = variable(environment, 'NOTIFY_SOCKET');
  if (socket === undefined) return undefined;
  const { spawn } = process.getBuiltinModule('node:child_process');
  const beatMs = watchdogMs(environment) / BEATS_IN_TIME;
  let beat: NodeJS.Timeout | undefined;
  let speaking = false;
  let warned = false;
  const failed = (why: string): void => {
    speaking = false;
    if (!warned) warn(`cannot notify the service manager: ${why}`);
    warned = true;
  };
  const tell = (state: string): void => {
    speaking = true;
    const env = { NOTIFY_SOCKET: socket, PATH: environment['PATH'] };
    const child = spawn('systemd-notify', [state], { stdio: 'ignore', env });
    child.once('error', (error) => failed(error.message));
    child.once('exit', (code) => {
      if (code === 0) speaking = false;
      else failed(`systemd-notify exited with ${code}`);
    });
    child.unref();
  };
  return {
    /** Reports that the process is ready. From then on it also sends watchdog keep-alives, if the manager requires them. */
    ready(): void {
      tell('READY=1');
      if (!Number.isFinite(beatMs)) return;
      // While a keep-alive is still being sent, no other is sent: it would add nothing.
      beat = setInterval(() => speaking || tell('WATCHDOG=1'), beatMs);
      beat.unref();
    },
    /** Reports that the process is shutting down. */
    stopping(): void {
      clearInterval(beat);
      tell('STOPPING=1');
    },
  };
}

/** Returns the watchdog timeout, in milliseconds; infinity without one. */
function watchdogMs(environment: Environment): number {
  const time = variable(environment, 'WATCHDOG_USEC');
  const meant = variable(environment, 'WATCHDOG_PID');
  if (time === undefined || !/^[1-9]\d*$/.test(time)) return Infinity;
  return meant === undefined || meant === String(process.pid) ? Number(time) / MICROSECONDS : Infinity;
}
