// What people allowed or refused in advance, with an answer that is remembered.

import { z } from 'zod'
import { shortIds } from '../../../domain/text/id-prefix.ts'
import { type Grant, GrantSchema } from '../../../protocols/manage/approvals/schema.ts'
import { scopeWords } from '../../../supervision/remember/match-label.ts'
import { localTime, localZone, terminalLine, textTable } from '../../terminal/terminal-text.ts'
import type { CtlContext } from './ctl-server.ts'
import { findOne, NothingFound, quoted, understood } from './records.ts'

async function allGrants({ server }: CtlContext, agent?: string): Promise<Grant[]> {
  const sent = await server.get(`/grants${agent === undefined ? '' : `?agent=${encodeURIComponent(agent)}`}`)
  return understood(z.looseObject({ grants: z.array(GrantSchema) }), sent).grants
}

export async function grants(context: CtlContext, { agent }: { agent?: string }): Promise<void> {
  const found = await allGrants(context, agent)
  const ids = shortIds(found.map(({ grant_id }) => grant_id))
  const rows = found.map((one) => [
    ids.get(one.grant_id) ?? '',
    one.effect,
    terminalLine(one.agent, 40),
    terminalLine(one.label, 200),
    scopeWords[one.scope],
    terminalLine(one.workspace ?? '', 120),
    one.expires_at === null ? '' : localTime(one.expires_at),
    terminalLine(one.granted_by, 40),
  ])
  const head = ['ID', 'EFFECT', 'AGENT', 'WHAT', 'WHERE', 'WORKSPACE', `UNTIL (${localZone()})`, 'BY']
  const none = 'Nothing is remembered. To remember an answer: quarterdeck ctl approve <id> --remember session'
  context.say({ grants: found }, found.length === 0 ? none : textTable(head, rows).trimEnd())
}

export async function revoke(context: CtlContext, id: string): Promise<void> {
  const found = findOne(await allGrants(context), id, ({ grant_id, label }) => [grant_id, label])
  if (found === null) {
    throw new NothingFound(`No grant has the id ${quoted(id)}.`, ['To list them: quarterdeck ctl grants'])
  }
  await context.server.delete(`/grants/${found.grant_id}`)
  context.say(found, `Revoked: ${terminalLine(found.label, 200)}. The next such call asks again.`)
}
