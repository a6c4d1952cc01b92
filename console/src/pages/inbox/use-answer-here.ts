import { useQueryClient } from '@tanstack/react-query'
import type { InboxItem } from 'quarterdeck/client'
import { useState } from 'react'
import { useClient } from '../../data/server.tsx'
import { errorText } from '../../error-text.ts'
import { announce } from '../../parts/Announcer.tsx'
import type { GivenAnswer } from '../../parts/approval/AnswerForm.tsx'
import { doneText, type RecordAction } from '../../parts/approval/record-actions.ts'

/** Answers an item where it stands in the list. */
export function useAnswerHere() {
  const client = useClient()
  const queries = useQueryClient()
  const [busyId, setBusy] = useState<string | null>(null)

  /** True: the server has taken it. */
  async function answer(
    item: InboxItem,
    action: RecordAction,
    { text = '', ...more }: GivenAnswer = {},
  ): Promise<boolean> {
    if (busyId !== null) return false
    setBusy(item.id)
    try {
      const digest = item.kind === 'approval' ? { digest: item.approval.digest } : {}
      await client.answer(action, { text, more: { ...digest, ...more } })
      announce(doneText(action, item.view))
      return true
    } catch (error) {
      announce(errorText(error))
      return false
    } finally {
      void queries.invalidateQueries({ queryKey: ['inbox'] })
      setBusy(null)
    }
  }
  return { answer, busyId }
}
