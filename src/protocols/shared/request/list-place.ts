import { parseUuid, ulidOf } from '../../../domain/ids.ts'
import { queryProblem } from './page.ts'

/** A place in a list that is ordered by time and id. It holds also when the item that was there is gone. */
export interface ListPlace {
  createdAt: number
  id: string
}

export const printPlace = ({ createdAt, id }: ListPlace): string => `${createdAt}.${ulidOf(id)}`

/** Throws `invalid_request`. */
export function parsePlace(text: string): ListPlace {
  const [, time, name = ''] = /^(\d{1,15})\.(.+)$/.exec(text) ?? []
  const id = parseUuid(name)
  if (id !== null) return { createdAt: Number(time), id }
  throw queryProblem({ pointer: 'before', detail: 'Send what came in the Link header of the page before.' })
}
