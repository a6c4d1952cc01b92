// Commands for what was allowed or refused in advance.

import { type Grant, grantScope } from '../../domain/supervision/grant.ts'
import { shortIds } from '../../domain/text/id-prefix.ts'
import { grantLabel, scopeWords } from '../../supervision/remember/match-label.ts'
import { type Answer, count, facts, heading, lines, oneLine, says } from './answer.ts'
import { channelSessions, named, refuseMore } from './channel-sessions.ts'
import type { Asked, CommandServices } from './command-services.ts'

const MOST_SHOWN = 40

/** Those of agents that work where this channel's do. Our own agents belong to the channel of sessions that name none. */
async function grantsHere(services: CommandServices, { context }: Asked) {
  const here = await channelSessions(services, context)
  const roots = new Set(here.all.map(({ supervision }) => supervision.workspaceRoot))
  const isOwnHere = context.channelId === services.defaultChannelId
  const all = (await services.approvals.grants()).filter(({ elsewhere }) =>
    elsewhere === undefined ? isOwnHere : roots.has(elsewhere.workspaceRoot),
  )
  const short = shortIds(all.map(({ id }) => id))
  const line = (grant: Grant): string =>
    facts(
      short.get(grant.id) ?? grant.id,
      grant.effect === 'refuse' ? 'refused' : 'allowed',
      oneLine(grantLabel(grant), 200),
      scopeWords[grantScope(grant)],
      oneLine(grant.agent, 40),
      grant.elsewhere === undefined ? null : oneLine(grant.elsewhere.workspaceRoot, 120),
      `by ${oneLine(grant.grantedBy, 40)}`,
    )
  return { all, line }
}

export async function listGrants(services: CommandServices, asked: Asked): Promise<Answer> {
  refuseMore(asked)
  const { all, line } = await grantsHere(services, asked)
  if (all.length === 0) return says('Nothing is remembered for the agents of this channel.')
  const parts = [heading(count(all.length, 'remembered answer')), lines(all.slice(0, MOST_SHOWN).map(line))]
  return { parts }
}

export async function revokeGrant(services: CommandServices, asked: Asked): Promise<Answer> {
  refuseMore(asked, asked.command.words, 1)
  const { all, line } = await grantsHere(services, asked)
  const grant = named('grant', all, asked.command.words[0] ?? '', line)
  await services.approvals.revokeGrant(asked.by, grant.id)
  return says(`Revoked: ${oneLine(grantLabel(grant), 200)}. The next such call asks again.`)
}
