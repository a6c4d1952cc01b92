// The state machine of sessions, runs, waits and files. It is the same for every store: what a command changes, or why it is refused.

import type { Command } from '../ports/command.ts'
import { acceptRun } from './accept-run.ts'
import { feedItems } from './feed-items.ts'
import { importRules } from './import-rules.ts'
import { outboxRules } from './outbox-rules.ts'
import { type Decision, decided, type Rule, type RulesOf } from './rows.ts'
import { runRules } from './run-rules.ts'
import { sessionRules } from './session-rules.ts'
import { supervise } from './supervise.ts'
import { usageBesideSessions } from './usage-rows.ts'
import { waitRules } from './wait-rules.ts'

const rules: RulesOf<Command> = {
  accept_run: acceptRun,
  ...runRules,
  ...waitRules,
  supervise,
  ...sessionRules,
  ...importRules,
  ...outboxRules,
  add_usage: ({ usage }) => decided([{ write: 'add_usage', rows: usageBesideSessions(usage) }]),
  add_audit: ({ audit }) => decided([{ write: 'add_audit', records: audit }]),
}

export function* decide(command: Command): Rule<Decision> {
  const rule = rules[command.type] as (command: Command) => Rule<Decision>
  const decision = yield* rule(command)
  const items = feedItems(command, decision.changes)
  if (items.length > 0) decision.changes.push({ write: 'add_to_feed', items })
  return decision
}
