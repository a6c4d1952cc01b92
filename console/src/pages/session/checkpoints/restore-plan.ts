import { ClientError } from 'quarterdeck/client'

/** What a restore would do, as the server lists it. Each list has up to 1,000 paths; `counts` has the whole numbers. */
export interface RestorePlan {
  digest: string
  lists: { name: PlanList; paths: string[]; count: number }[]
}

export type PlanList = 'protected' | 'lost_for_good' | 'modified' | 'deleted' | 'added' | 'cannot_restore' | 'unknown'

/** What one must not overlook comes first. */
const order: readonly PlanList[] = [
  'protected',
  'lost_for_good',
  'modified',
  'deleted',
  'added',
  'cannot_restore',
  'unknown',
]

/** The plan in a 409 of a restore. Null: it is another error. */
export function planIn(error: unknown): RestorePlan | null {
  if (!(error instanceof ClientError) || error.code !== 'restore_unconfirmed') return null
  const { digest, counts, ...facts } = error.problem ?? {}
  if (typeof digest !== 'string') return null
  const numbers = isRecord(counts) ? counts : {}
  const lists = order.flatMap((name) => {
    const given = facts[name]
    const paths = Array.isArray(given) ? given.filter((path): path is string => typeof path === 'string') : []
    const number = numbers[name]
    const count = typeof number === 'number' ? number : paths.length
    return count === 0 ? [] : [{ name, paths, count }]
  })
  return { digest, lists }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

export const planWords: Readonly<Record<PlanList, { title: string; text: string }>> = {
  protected: { title: 'Protected', text: 'Nobody may write to these places without a person. Look closely.' },
  lost_for_good: {
    title: 'Lost for good',
    text: 'Too large to be kept: an undo cannot bring their present content back.',
  },
  modified: { title: 'Will be overwritten', text: 'They get the content that they had at the checkpoint.' },
  deleted: { title: 'Will come back', text: 'They were deleted since the checkpoint.' },
  added: { title: 'Will be removed', text: 'They are newer than the checkpoint.' },
  cannot_restore: { title: 'Stay as they are', text: 'The checkpoint has their hash, not their content.' },
  unknown: { title: 'Not compared', text: 'They could not be read, now or at the checkpoint.' },
}
