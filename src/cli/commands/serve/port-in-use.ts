import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { findFreePort, takenHost } from './free-port.ts'
import { findPortHolder, type PortHolder } from './port-holder.ts'

/** Whether listening failed because somebody else listens there; the reason may lie under an error of ours. */
export function isPortInUse(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && current.code === 'EADDRINUSE') return true
  }
  return false
}

/** Who has the port, and a free one to take instead. */
export async function portInUse(
  hosts: readonly string[],
  port: number,
  findHolder: (port: number) => Promise<PortHolder | null> = findPortHolder,
): Promise<CliError> {
  const holder = await findHolder(port)
  const who = holder === null ? 'another process' : `${holder.command} (pid ${holder.pid})`
  const host = (await takenHost(hosts, port)) ?? hosts[0]
  const free = await findFreePort(hosts, port)
  const mend = free === null ? ['Let the system choose one: --port 0'] : [`This one is free: --port ${free}`]
  return new CliError(exitCodes.unavailable.code, `Port ${port} on ${host} is in use by ${who}.`, mend)
}
