import { type ClientCall, clientCallId } from '../../../domain/records/record.ts'
import type { TerminalEvent } from '../../../domain/session/event.ts'
import { waitsFor } from '../../../domain/session/run-answer.ts'
import type { Engine } from '../../../engine/engine.ts'

/** The calls that the end of a run leaves to the client, whether or not they have been answered since. */
export function clientCallsOf(
  engine: Pick<Engine, 'waits'>,
  owner: string,
  terminal: TerminalEvent,
): Promise<ClientCall[]> {
  return clientCalls(engine, owner, waitsFor(terminal).clientCallIds)
}

export const clientCalls = (
  engine: Pick<Engine, 'waits'>,
  owner: string,
  callIds: readonly string[],
): Promise<ClientCall[]> => Promise.all(callIds.map((id) => engine.waits.clientCall(owner, clientCallId(id))))
