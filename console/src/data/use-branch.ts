import { useEffect, useMemo } from 'react'
import { useSearchParams } from 'wouter'
import { announce } from '../parts/Announcer.tsx'
import { branchOf } from './branches.ts'
import type { useSessionLog } from './session-log.ts'

/** The id of the message that an item shows. */
export const messageIdOf = (key: string): string => key.slice(key.indexOf(':') + 1)

/**
 * The branch of a conversation that the address names: `?message=` is a link to a message, `?branch=` the item that somebody has turned
 * to. Earlier pages are loaded until it is found.
 */
export function useBranch(log: ReturnType<typeof useSessionLog>) {
  const [params, setParams] = useSearchParams()
  const [message, turnedTo] = [params.get('message'), params.get('branch')]
  const { transcript, status, hasEarlier, isLoadingEarlier, loadEarlier } = log
  const isNamed = message !== null || turnedTo !== null
  const target = useMemo(
    () =>
      turnedTo !== null
        ? transcript.items.find(({ key }) => key === turnedTo)
        : message !== null
          ? transcript.items.find(({ key }) => messageIdOf(key) === message)
          : undefined,
    [transcript.items, turnedTo, message],
  )
  const isSearching = isNamed && target === undefined && hasEarlier
  useEffect(() => {
    if (status === 'ready' && isSearching && !isLoadingEarlier) loadEarlier()
  }, [status, isSearching, isLoadingEarlier, loadEarlier])
  const isMissing = status === 'ready' && isNamed && target === undefined && !hasEarlier
  useEffect(() => {
    if (isMissing) announce('This message is not in the log any more.')
  }, [isMissing])
  const goTo = target?.key ?? null
  const branch = useMemo(() => branchOf(transcript, goTo, !hasEarlier), [transcript, goTo, hasEarlier])
  return {
    ...branch,
    isSearching,
    /** Key of the item that is brought into sight. */
    goTo,
    /** Somebody was sent here to read it. */
    isMarked: turnedTo === null,
    /** Turns to the branch with this item. Null: to the conversation as it stands. */
    turnTo(key: string | null): void {
      setParams(
        (now) => {
          now.delete('message')
          if (key === null) now.delete('branch')
          else now.set('branch', key)
          return now
        },
        { replace: true },
      )
    },
  }
}
