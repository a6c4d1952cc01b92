/** Whether a terminal gets colours: unless the person turned them off (https://no-color.org). */
export const takesColors = (
  { isTTY }: { isTTY?: boolean },
  { NO_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
): boolean => isTTY === true && !NO_COLOR && TERM !== 'dumb'
