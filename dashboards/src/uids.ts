/** How the dashboards find each other. */
export const OVERVIEW = { uid: 'headgate-overview', title: 'headgate: overview' } as const;
export const WHY_SLOW = { uid: 'headgate-why-slow', title: 'headgate: why slow' } as const;
