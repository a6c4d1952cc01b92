import type { Checker } from '../evidence.ts'
import { acknowledged } from './acknowledged.ts'
import { approvals } from './approvals.ts'
import { audit } from './audit.ts'
import { automaton } from './automaton.ts'
import { budgets } from './budgets.ts'
import { calls } from './calls.ts'
import { cancels } from './cancels.ts'
import { deletions } from './deletions.ts'
import { effects } from './effects.ts'
import { elsewhereAnswers } from './elsewhere-answers.ts'
import { elsewhereRecords } from './elsewhere-records.ts'
import { feed } from './feed.ts'
import { hosted } from './hosted.ts'
import { hourly } from './hourly.ts'
import { liveness } from './liveness.ts'
import { messages } from './messages.ts'
import { presence } from './presence.ts'
import { views } from './views.ts'

export const checkers: readonly Checker[] = [
  acknowledged,
  automaton,
  messages,
  views,
  effects,
  approvals,
  calls,
  audit,
  feed,
  elsewhereRecords,
  elsewhereAnswers,
  hosted,
  budgets,
  cancels,
  presence,
  deletions,
  hourly,
  liveness,
]
