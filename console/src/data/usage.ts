import { useQuery } from '@tanstack/react-query'
import type { UsageOptions } from 'quarterdeck/client'
import { useClient } from './server.tsx'
import type { UsageRange } from './usage-range.ts'

/** The server gives no more. */
const MOST_ROWS = 1_000

export function useUsage(
  { from, to, problem }: UsageRange,
  question: Pick<UsageOptions, 'by' | 'split' | 'agent' | 'model' | 'owner'>,
) {
  const client = useClient()
  return useQuery({
    queryKey: ['usage', from, to, question],
    queryFn: ({ signal }) => client.usage({ from, to, ...question, limit: MOST_ROWS, signal }),
    enabled: problem === null,
  })
}
