/** The first descriptor that a service manager passes on. */
const FIRST = 3;
const VARIABLES = ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES'] as const;

/**
 * The listening sockets that systemd (sd_listen_fds) or a program like it made for this process, and no other; the variables that say
 * so are taken out of the environment.
 * @param most more than so many are left alone.
 */
export function passedDescriptors(
  environment: NodeJS.ProcessEnv,
  most: number,
  pid = process.pid,
): readonly number[] {
  const { LISTEN_FDS: count, LISTEN_PID: meant } = environment;
  for (const name of VARIABLES) delete environment[name];
  if (meant !== String(pid) || count === undefined || !/^[1-9]\d?$/.test(count)) return [];
  return Array.from({ length: Math.min(Number(count), most) }, (_, index) => FIRST + index);
}
