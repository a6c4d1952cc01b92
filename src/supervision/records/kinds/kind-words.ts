// What a kind of record says of itself. `describe` puts it together with what all kinds have.

import type { PersonRecord } from '../../../domain/records/record.ts'
import type { ActionName } from '../../../domain/records/record-kinds.ts'
import type { BodyPart, KindView, RecordAction, RecordOutcome, RecordScene } from '../record-view.ts'

export interface KindWords<R extends PersonRecord> {
  view(record: R, scene: RecordScene): KindView
  /** What a person looks at before they answer. Not made for lists: it may be long. */
  body(record: R, scene: RecordScene): BodyPart[]
  /** The words for each answer that the table of kinds allows. */
  actions(record: R): ActionWords
  /** How it ended; null: it still wants something of a person. */
  verdict(record: R): Verdict | null
  /** Of a record that no person has ended: somebody may still think that it waits. */
  endedAlone(record: R): boolean
}

export type Verdict = Pick<RecordOutcome, 'word' | 'tone'> & Partial<Pick<RecordOutcome, 'more' | 'words' | 'facts'>>

export type ActionWords = Partial<Record<ActionName, RecordAction>>

type GivenWords = Omit<RecordAction, 'name' | 'text' | 'main' | 'danger' | 'choices'> &
  Partial<Pick<RecordAction, 'text' | 'main' | 'danger' | 'choices'>>

export const action = (name: ActionName, words: GivenWords): RecordAction => ({
  name,
  text: '',
  main: false,
  danger: false,
  choices: [],
  ...words,
})

export const stop = action('stop', {
  label: 'Stop',
  takes: 'nothing',
  danger: true,
  confirm: { title: 'Stop the agent?', help: 'The agent is told that there is nothing more to do.' },
  done: 'The agent is told to stop.',
})

export const stopped: Verdict = { word: 'Stopped', tone: 'warn' }

export const interrupted: Verdict = {
  word: 'Interrupted',
  tone: 'warn',
  more: 'The agent or its run ended before anybody answered. Nothing was decided.',
}

/** What stands in `decidedBy` when no person decided. */
const NOBODY: readonly (string | null)[] = [null, 'timeout', 'policy', 'restart']
export const isPerson = (by: string | null): by is string => !NOBODY.includes(by)
