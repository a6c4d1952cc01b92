import type { FileLines } from 'quarterdeck/client'
import { useCallback } from 'react'
import { usePlace } from '../../data/place.ts'
import { useClient } from '../../data/server.tsx'

/** Lines of the new file. Without `to`: to its end. */
export type ReadLines = (range: { from: number; to?: number }) => Promise<FileLines>

/** Of the file that a change was made from. Undefined: only operators may. */
export function useReadLines(approvalId: string): ReadLines | undefined {
  const client = useClient()
  const isOperator = usePlace().role === 'operator'
  const read = useCallback<ReadLines>((range) => client.fileLines(approvalId, range), [client, approvalId])
  return isOperator ? read : undefined
}
