// Put the call that really restarts a service here.
export const restart_service = ({ service }: { service: string }): string => `The service ${service} was restarted.`
