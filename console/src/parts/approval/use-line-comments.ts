import { useMemo } from 'react'
import type { CommentPlace, LineComment, LineComments } from '../diff/line-comments.ts'
import type { Draft } from './use-draft.ts'

const PREFIX = 'line.'

/** The comments are texts of the draft. The name of each says where it stands. */
export function useLineComments({ texts, set }: Draft): LineComments {
  const all = useMemo(() => Object.entries(texts).flatMap(([name, text]) => commentIn(name, text)), [texts])
  return {
    all,
    set: ({ path, side, number, quote }, text) => set(PREFIX + JSON.stringify({ path, side, number, quote }), text),
  }
}

function commentIn(name: string, text: string): LineComment[] {
  return name.startsWith(PREFIX) ? [{ ...(JSON.parse(name.slice(PREFIX.length)) as CommentPlace), text }] : []
}

/** Why there is no yes while there are comments. */
export const commentsLock = (count: number): string | null =>
  count === 0
    ? null
    : count === 1
      ? 'Only a rejection sends your comment to the agent. Reject, or delete the comment to approve.'
      : `Only a rejection sends your ${count} comments to the agent. Reject, or delete the comments to approve.`
