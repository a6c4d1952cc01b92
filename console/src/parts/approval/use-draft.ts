import { useEffect, useState } from 'react'
import { isRecord } from '../../../../src/domain/is-record.ts'
import { itemDraft, keepDraft, keptDraft } from '../../data/drafts.ts'

/** What a person has begun to answer to an item. Only what they have changed is in it, so no secret that is masked. */
export interface Draft {
  texts: Readonly<Record<string, string>>
  /** It was begun when the item was another one. */
  isOld: boolean
  /** Null: the text is as it was before. */
  set(name: string, text: string | null): void
  drop(): void
  /** The item is asked again under this id. */
  moveTo(id: string): void
}

/** `digest`: of what the item asks. Items that never change have none. */
export function useDraft(id: string, digest = ''): Draft {
  const [state, setState] = useState(() => read(id))
  const { begun, texts } = state.id === id ? state : read(id)

  function set(name: string, text: string | null): void {
    const { [name]: _, ...others } = read(id).texts
    const next = text === null ? others : { ...others, [name]: text }
    const isEmpty = Object.keys(next).length === 0
    keepDraft(itemDraft(id), isEmpty ? null : { digest: begun ?? digest, texts: next })
    setState({ id, begun: isEmpty ? null : (begun ?? digest), texts: next })
  }
  function drop(): void {
    keepDraft(itemDraft(id), null)
    setState({ id, begun: null, texts: {} })
  }
  function moveTo(next: string): void {
    if (begun !== null && next !== id) keepDraft(itemDraft(next), { digest: begun, texts })
  }
  return { texts, isOld: begun !== null && begun !== digest, set, drop, moveTo }
}

/** `begun`: the digest of what was asked then. Null: there is no draft. */
function read(id: string): { id: string; begun: string | null; texts: Record<string, string> } {
  const { digest, texts } = keptDraft(itemDraft(id))
  const own = Object.entries(isRecord(texts) ? texts : {}).filter((entry) => typeof entry[1] === 'string')
  return {
    id,
    begun: typeof digest === 'string' ? digest : null,
    texts: Object.fromEntries(own) as Record<string, string>,
  }
}

/** Nobody can send it any more. */
export function useDropWhen(isSettled: boolean, { drop }: Draft): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    if (isSettled) drop()
  }, [isSettled])
}
