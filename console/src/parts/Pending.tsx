import { Failed, Loading } from './States.tsx'

interface PendingProps {
  /** What was asked for and is not here yet. */
  query: { error: unknown; refetch: () => unknown }
  rows?: number
  height?: number
}

/** In place of an answer: it is on its way, or did not come. */
export function Pending({ query: { error, refetch }, ...bones }: PendingProps) {
  return error === null ? <Loading {...bones} /> : <Failed error={error} onRetry={() => void refetch()} />
}
