import { useEffect, useRef } from 'react'

/** For people who do not see the page. */
export function Spoken({ isRunning, hasQuestion }: { isRunning: boolean; hasQuestion: boolean }) {
  const was = useRef(false)
  useEffect(() => {
    was.current ||= isRunning
  }, [isRunning])
  const text = isRunning
    ? 'The agent is at work.'
    : hasQuestion
      ? 'The agent waits for a decision.'
      : 'The agent is done.'
  return (
    <p className="unseen" role="status">
      {isRunning || hasQuestion || was.current ? text : ''}
    </p>
  )
}
