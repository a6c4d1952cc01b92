/** Takes text as it arrives and calls `take` with the data of each complete SSE event. Skips comments and ids. */
export function createSseFrames(take: (data: string) => void): (text: string) => void {
  let rest = ''
  return (text) => {
    const frames = (rest + text).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const start = frame.startsWith('data:') ? 5 : frame.indexOf('\ndata:') + 6
      if (start === 5 && !frame.startsWith('data:')) continue
      const end = frame.indexOf('\n', start)
      take(frame.slice(start, end === -1 ? undefined : end))
    }
  }
}
