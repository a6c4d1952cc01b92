// How many people have to say yes, and who has.

import { type Risk, risks } from '../agent/tool-settings.ts'
import type { Approval } from '../records/record.ts'

/** How many people have to say yes, by the risk of what they are asked. A higher risk never needs fewer. */
export type Quorum = Readonly<Record<Risk, number>>

/** One person's yes to something that needs several. */
export interface Yes {
  /** The name under which `operators` lists the person, whichever of their names they came with. */
  by: string
  /** The channel: `http`, `ctl`, `slack`, … */
  via: string
  at: number
  /** Of a change by an agent elsewhere: it may overwrite the file although that has changed meanwhile. */
  force?: boolean
}

export const sameForEveryRisk = (people: number): Quorum => ({ low: people, high: people, critical: people })

export const ONE_PERSON: Quorum = sameForEveryRisk(1)

export const mostNeeded = (quorum: Quorum): number => Math.max(...risks.map((risk) => quorum[risk]))

/** How far an approval is that several people have to agree to. Null: the first yes decides. */
export const gatheredYeses = ({ quorum = 1, decisions = [] }: Pick<Approval, 'quorum' | 'decisions'>) =>
  quorum > 1 ? { needed: quorum, yeses: decisions } : null
