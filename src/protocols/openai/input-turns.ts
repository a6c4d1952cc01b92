import { ServerError } from '../../domain/errors.ts'
import { textOf } from '../../domain/message.ts'
import type { Engine } from '../../engine/engine.ts'
import type { InputTurn } from './decode-response.ts'
import type { Turn } from './turns.ts'
import { parseItemId } from './wire-ids.ts'

/**
 * The turns with their references looked up: some clients name what this server said in place of repeating it. Throws
 * `invalid_request` for one that is not the owner's or not there any more.
 */
export async function resolveTurns(
  engine: Pick<Engine, 'getRun' | 'knownMessages'>,
  owner: string,
  input: readonly InputTurn[],
): Promise<Turn[]> {
  const turns: Turn[] = []
  for (const turn of input) {
    if (turn.role !== 'reference') turns.push(turn)
    else turns.push({ role: 'assistant', text: await textOfItem(engine, owner, turn) })
  }
  return turns
}

async function textOfItem(
  engine: Pick<Engine, 'getRun' | 'knownMessages'>,
  owner: string,
  { id, index }: Extract<InputTurn, { role: 'reference' }>,
): Promise<string> {
  const item = parseItemId(id)
  const run = item === null ? null : await engine.getRun(owner, item.runId).catch(nullIfNotFound)
  const [message] = item === null || run === null ? [] : await engine.knownMessages(run.sessionId, [item.messageId])
  if (message?.role === 'assistant') return textOf(message.content)
  const detail = 'There is no such item, or it is not kept any more: send the text itself.'
  throw new ServerError('invalid_request', 'The input refers to something that is not there.', {
    problems: [{ pointer: `/input/${index}/id`, detail }],
  })
}

function nullIfNotFound(error: unknown): null {
  if (error instanceof ServerError && error.code === 'run_not_found') return null
  throw error
}
