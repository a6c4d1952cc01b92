import { ServerError } from './errors.ts'

/** A token may be for one agent only. */
export function refuseOtherAgent(onlyAgent: string | undefined, agent: string): void {
  if (onlyAgent === undefined || onlyAgent === agent) return
  throw new ServerError('forbidden', `The token you sent may only talk to the agent ${onlyAgent}.`)
}
