/** The parts of Kubernetes' pods that our manifests use. */
export interface EnvVariable {
  name: string;
  value?: string;
  valueFrom?: {
    configMapKeyRef?: KeyRef;
    secretKeyRef?: KeyRef;
    fieldRef?: { fieldPath: string };
  };
}

export interface KeyRef {
  name: string;
  key: string;
  optional?: boolean;
}

export interface Probe {
  exec?: { command: string[] };
  httpGet?: { path: string; port: string };
  periodSeconds?: number;
  failureThreshold?: number;
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: EnvVariable[];
  envFrom?: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
  restartPolicy?: "Always";
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  resources?: { limits?: { memory?: string } };
  securityContext?: {
    runAsUser?: number;
    runAsGroup?: number;
    privileged?: boolean;
    readOnlyRootFilesystem?: boolean;
    allowPrivilegeEscalation?: boolean;
    capabilities?: { drop?: string[] };
  };
}

export interface Volume {
  name: string;
  emptyDir?: object;
  configMap?: { name: string; defaultMode?: number };
  secret?: { secretName: string; defaultMode?: number; optional?: boolean };
  persistentVolumeClaim?: { claimName: string };
}

export interface PodSpec {
  securityContext?: { fsGroup?: number; runAsUser?: number; runAsGroup?: number };
  initContainers?: Container[];
  containers: Container[];
  volumes?: Volume[];
}
