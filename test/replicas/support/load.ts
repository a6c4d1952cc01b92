// Clients that talk as long as the test wants, and what became of it in the end.

import { fromEnvironment, ms, print } from '../../crash/support/figures.ts'
import { within } from '../../crash/support/until.ts'
import type { Random } from '../../sim/random.ts'
import { startAgentAtMcp } from './agent-at-mcp.ts'
import { checkTalks, isEffect, isForReview } from './check-talks.ts'
import { createTalk, kinds, type Talk } from './talk.ts'
import type { Team } from './team.ts'

/** All runs have ended so long after the last harm. */
const SETTLE_MS = fromEnvironment('SETTLE_MS', 30_000)

/** Coding agents at /mcp. By default a user has at most three. */
const AGENTS = ['ada', 'bob']

export interface Load {
  /** All of them so far. */
  readonly talks: readonly Talk[]
  /** Those that have begun and not ended. */
  open(): Talk[]
  /** Ends the talks that are under way and checks all of them. Resolves with a line of figures, throws what is wrong. */
  finish(): Promise<string>
}

/** `clients` send one message after the other, each in a session of its own. */
export function startLoad(team: Team, { clients, random }: { clients: number; random: Random }): Load {
  const talks: Talk[] = []
  let goOn = true

  async function client(id: number): Promise<void> {
    const choice = random.fork(`client ${id}`)
    for (let i = 0; goOn; i += 1) {
      const talk = createTalk({ url: team.url, name: `c${id}n${i}`, kind: choice.pick(kinds) })
      talks.push(talk)
      await talk.run()
      if (talk.faults.length > 0) return
    }
  }
  const agents = AGENTS.map((name) => startAgentAtMcp(team, name))
  const all = Promise.all(Array.from({ length: clients }, (_, id) => client(id)))

  return {
    talks,
    open: () => talks.filter(({ ended, acknowledged }) => acknowledged && !ended),
    async finish() {
      goOn = false
      const began = performance.now()
      const stuck = () => talks.filter(({ ended }) => !ended).map(({ name, kind }) => `${name} (${kind})`)
      const ends = Promise.all([all, ...agents.map((agent) => agent.stop())])
      await within(
        SETTLE_MS,
        ends,
        () => `these have no end: ${stuck().join(' ')}\n${team.errors().slice(-20).join('\n')}`,
      )
      const settled = performance.now() - began
      const faults = await checkTalks(team, talks)
      for (const agent of agents) faults.push(...(await agent.faults()))
      if (faults.length > 0) {
        print(team.errors().slice(0, 20).join('\n'))
        throw new Error(`${faults.length} faults:\n${faults.slice(0, 30).join('\n')}`)
      }
      const sum = (of: (talk: Talk) => number) => talks.reduce((n, talk) => n + of(talk), 0)
      const effects = talks.filter(({ kind }) => isEffect(kind)).length
      const questions = agents.reduce((n, { answered }) => n + answered, 0)
      return [
        `${talks.length} messages, ${questions} questions over MCP, ${sum(({ views }) => views.reduce((n, { frames }) => n + frames.length, 0))} frames, ${sum(({ reconnects }) => reconnects)} reconnects, ${sum(({ refusals }) => refusals)} times 503:`,
        `0 lost, 0 twice (${effects} effects, ${talks.filter(isForReview).length} runs left for review), 0 gaps, 0 stuck (settled in ${ms(settled)})`,
      ].join(' ')
    },
  }
}
